//! Values as SQLite keeps them: integers for truth and time, padded text for money.

use rusqlite::{
    CachedStatement, ToSql,
    types::{ToSqlOutput, Value as Owned, ValueRef},
};

use super::{Kind, Param, Value, sqlite_money};
use crate::Error;

/// Binds each `$n` of a statement. SQLite takes `$1` for a name and numbers names as they first
/// occur, so the number is read back from the name.
pub(crate) fn bind(
    statement: &mut CachedStatement<'_>,
    params: &[&dyn Param],
) -> Result<(), Error> {
    let count = statement.parameter_count();
    if count != params.len() {
        return Err(Error::other(format!(
            "the statement has {count} parameters and got {}",
            params.len()
        )));
    }
    for position in 1..=count {
        let param = number(statement, position)
            .and_then(|number| params.get(number.checked_sub(1)?))
            .ok_or_else(|| Error::other("parameters are $1, $2, … without a gap"))?;
        let value = param.to_value();
        if matches!(value, Value::Text(text) if text.contains('\0')) {
            return Err(Error::other("a text with a NUL character"));
        }
        statement
            .raw_bind_parameter(position, Bound(value))
            .map_err(|error| Error::other(error.to_string()))?;
    }
    Ok(())
}

fn number(statement: &CachedStatement<'_>, position: usize) -> Option<usize> {
    statement
        .parameter_name(position)?
        .strip_prefix('$')?
        .parse()
        .ok()
}

/// The value in a column of a row.
pub(crate) fn read<'a>(row: &'a rusqlite::Row<'_>, index: usize) -> Result<Value<'a>, Error> {
    let value = row
        .get_ref(index)
        .map_err(|error| Error::other(error.to_string()))?;
    match value {
        ValueRef::Null => Ok(Value::Null(Kind::Unknown)),
        ValueRef::Integer(integer) => Ok(Value::Integer(integer)),
        ValueRef::Text(bytes) => str::from_utf8(bytes)
            .map(Value::Text)
            .map_err(|_| Error::other("a text that is not UTF-8")),
        ValueRef::Blob(bytes) => Ok(Value::Bytes(bytes)),
        ValueRef::Real(_) => Err(Error::other(
            "a floating-point number, which no column holds",
        )),
    }
}

struct Bound<'a>(Value<'a>);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            Value::Null(_) => ToSqlOutput::Owned(Owned::Null),
            Value::Integer(integer) => ToSqlOutput::Owned(Owned::Integer(integer)),
            Value::Boolean(boolean) => ToSqlOutput::Owned(Owned::Integer(boolean.into())),
            Value::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Value::Bytes(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Value::Money(money) => ToSqlOutput::Owned(Owned::Text(sqlite_money::encode(money))),
            Value::Timestamp(time) => ToSqlOutput::Owned(Owned::Integer(time.micros())),
        })
    }
}
