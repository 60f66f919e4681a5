//! A document as html5ever builds it: elements in a flat list, each with its parent. Comments and
//! processing instructions are left out.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tokenizer::TokenizerOpts;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{Attribute, LocalName, Namespace, ParseOpts, QualName, parse_document};

/// Number of a node in its document; 0 is the document itself.
pub(super) type Node = usize;

/// One node: an element, or the document and texts, which have an empty name.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: QualName,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) text: String,
    pub(super) line: u64,
    parent: Option<Node>,
    children: Vec<Node>,
}

/// A parsed document and what the parser found wrong with it.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Element>,
    pub(super) errors: Vec<String>,
}

impl Tree {
    /// Parses a whole document; strict: what a browser would mend silently is in `errors`.
    pub(super) fn parse(html: &str) -> Self {
        let options = ParseOpts {
            tokenizer: TokenizerOpts {
                exact_errors: true,
                ..TokenizerOpts::default()
            },
            tree_builder: TreeBuilderOpts {
                exact_errors: true,
                // A page is read here as a browser without scripts reads it, so that the content of
                // <noscript> is checked too.
                scripting_enabled: false,
                ..TreeBuilderOpts::default()
            },
        };
        parse_document(Builder::default(), options).one(html)
    }

    /// Every element of the document, in its order, contents of templates included.
    pub(super) fn elements(&self) -> impl Iterator<Item = (Node, &Element)> {
        let mut order = Vec::new();
        let mut open = vec![0];
        while let Some(node) = open.pop() {
            order.push(node);
            open.extend(self.nodes[node].children.iter().rev());
        }
        order
            .into_iter()
            .map(|node| (node, &self.nodes[node]))
            .filter(|(_, element)| !element.tag().is_empty())
    }

    /// The elements that hold this one, from the inside out.
    pub(super) fn ancestors(&self, node: Node) -> impl Iterator<Item = &Element> {
        std::iter::successors(self.nodes[node].parent, |inner| self.nodes[*inner].parent)
            .map(|outer| &self.nodes[outer])
            .filter(|element| !element.tag().is_empty())
    }

    /// The text below a node, without the leading, trailing and repeated white space.
    pub(super) fn text(&self, node: Node) -> String {
        let mut text = String::new();
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            text.push_str(&self.nodes[node].text);
            text.push(' ');
            open.extend(self.nodes[node].children.iter().rev());
        }
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The elements below a node.
    pub(super) fn below(&self, node: Node) -> impl Iterator<Item = &Element> {
        let mut found = Vec::new();
        let mut open = self.nodes[node].children.clone();
        while let Some(node) = open.pop() {
            found.push(&self.nodes[node]);
            open.extend(&self.nodes[node].children);
        }
        found
            .into_iter()
            .filter(|element| !element.tag().is_empty())
    }
}

impl Element {
    fn new(name: QualName, line: u64) -> Self {
        Self {
            name,
            attributes: Vec::new(),
            text: String::new(),
            line,
            parent: None,
            children: Vec::new(),
        }
    }

    /// The tag's name in lower case; empty for the document and for texts.
    pub(super) fn tag(&self) -> &str {
        &self.name.local
    }

    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find(|(found, _)| found == name)
            .map(|(_, value)| value.as_str())
    }

    /// The tag as an error message shows it: `<input id="email">`.
    pub(super) fn shown(&self) -> String {
        let telling: Vec<String> = self
            .attributes
            .iter()
            .filter(|(name, _)| {
                ["id", "name", "type", "href", "src", "for"].contains(&name.as_str())
            })
            .map(|(name, value)| format!(" {name}=\"{value}\""))
            .collect();
        format!("<{}{}>", self.tag(), telling.concat())
    }
}

/// Receives the parser's steps.
struct Builder {
    nodes: RefCell<Vec<Element>>,
    errors: RefCell<Vec<String>>,
    line: Cell<u64>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            nodes: RefCell::new(vec![Element::new(nameless(), 0)]),
            errors: RefCell::default(),
            line: Cell::new(1),
        }
    }
}

fn nameless() -> QualName {
    QualName::new(None, Namespace::default(), LocalName::default())
}

impl Builder {
    fn add(&self, name: QualName) -> Node {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(Element::new(name, self.line.get()));
        nodes.len() - 1
    }

    fn node_of(&self, child: NodeOrText<Node>) -> Node {
        match child {
            NodeOrText::AppendNode(node) => node,
            NodeOrText::AppendText(text) => {
                let node = self.add(nameless());
                self.nodes.borrow_mut()[node].text = text.to_string();
                node
            }
        }
    }

    fn place(&self, parent: Node, at: Option<Node>, child: Node) {
        self.remove_from_parent(&child);
        let mut nodes = self.nodes.borrow_mut();
        nodes[child].parent = Some(parent);
        let siblings = &mut nodes[parent].children;
        let index = at
            .and_then(|sibling| siblings.iter().position(|found| *found == sibling))
            .unwrap_or(siblings.len());
        siblings.insert(index, child);
    }
}

/// A borrowed name; the parser only looks at it.
#[derive(Debug)]
struct Name<'a>(Ref<'a, QualName>);

impl ElemName for Name<'_> {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl TreeSink for Builder {
    type Handle = Node;
    type Output = Tree;
    type ElemName<'a> = Name<'a>;

    fn finish(self) -> Tree {
        Tree {
            nodes: self.nodes.into_inner(),
            errors: self.errors.into_inner(),
        }
    }

    fn parse_error(&self, message: Cow<'static, str>) {
        self.errors
            .borrow_mut()
            .push(format!("line {}: {message}", self.line.get()));
    }

    fn get_document(&self) -> Node {
        0
    }

    fn elem_name<'a>(&'a self, target: &'a Node) -> Name<'a> {
        Name(Ref::map(self.nodes.borrow(), |nodes| &nodes[*target].name))
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Node {
        let node = self.add(name);
        self.add_attrs_if_missing(&node, attributes);
        node
    }

    fn create_comment(&self, _: StrTendril) -> Node {
        self.add(nameless())
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Node {
        self.add(nameless())
    }

    fn append(&self, parent: &Node, child: NodeOrText<Node>) {
        let child = self.node_of(child);
        self.place(*parent, None, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &Node,
        previous: &Node,
        child: NodeOrText<Node>,
    ) {
        if self.nodes.borrow()[*element].parent.is_some() {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Node) -> Node {
        *target
    }

    fn same_node(&self, one: &Node, other: &Node) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Node, child: NodeOrText<Node>) {
        let child = self.node_of(child);
        let parent = self.nodes.borrow()[*sibling].parent;
        self.place(parent.unwrap_or(0), Some(*sibling), child);
    }

    fn add_attrs_if_missing(&self, target: &Node, attributes: Vec<Attribute>) {
        let element = &mut self.nodes.borrow_mut()[*target];
        for attribute in attributes {
            let name = attribute.name.local.to_string();
            if element.attribute(&name).is_none() {
                element.attributes.push((name, attribute.value.to_string()));
            }
        }
    }

    fn remove_from_parent(&self, target: &Node) {
        let mut nodes = self.nodes.borrow_mut();
        if let Some(parent) = nodes[*target].parent.take() {
            nodes[parent].children.retain(|child| child != target);
        }
    }

    fn reparent_children(&self, node: &Node, new_parent: &Node) {
        let children = std::mem::take(&mut self.nodes.borrow_mut()[*node].children);
        for child in children {
            self.nodes.borrow_mut()[child].parent = None;
            self.place(*new_parent, None, child);
        }
    }

    fn set_current_line(&self, line: u64) {
        self.line.set(line);
    }
}
