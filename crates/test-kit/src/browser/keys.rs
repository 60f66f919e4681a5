//! Keys of a keyboard, as WebDriver names them.

use serde_json::{Value, json};

/// One key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Key {
    /// A letter, digit or sign.
    Char(char),
    /// The space bar.
    Space,
    /// Tab.
    Tab,
    /// Enter.
    Enter,
    /// Escape.
    Escape,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Home.
    Home,
    /// End.
    End,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Shift, to be held while another key is pressed.
    Shift,
    /// Control, to be held while another key is pressed.
    Control,
}

impl Key {
    /// The character that stands for the key (WebDriver, "Keyboard actions").
    fn code(self) -> char {
        match self {
            Self::Char(character) => character,
            Self::Space => ' ',
            Self::Backspace => '\u{E003}',
            Self::Tab => '\u{E004}',
            Self::Enter => '\u{E007}',
            Self::Shift => '\u{E008}',
            Self::Control => '\u{E009}',
            Self::Escape => '\u{E00C}',
            Self::End => '\u{E010}',
            Self::Home => '\u{E011}',
            Self::Left => '\u{E012}',
            Self::Up => '\u{E013}',
            Self::Right => '\u{E014}',
            Self::Down => '\u{E015}',
            Self::Delete => '\u{E017}',
        }
    }
}

/// The actions that press a key while others are held.
pub(super) fn pressing(held: &[Key], key: Key) -> Value {
    let step = |kind: &str, key: &Key| json!({"type": kind, "value": key.code().to_string()});
    let mut steps: Vec<Value> = held.iter().map(|key| step("keyDown", key)).collect();
    steps.extend([step("keyDown", &key), step("keyUp", &key)]);
    steps.extend(held.iter().rev().map(|key| step("keyUp", key)));
    json!({"actions": [{"type": "key", "id": "keyboard", "actions": steps}]})
}
