//! Values in PostgreSQL's binary format. Every value is checked against the type that the statement
//! wants: nothing is cut, rounded or reinterpreted.

use std::error::Error as _;

use bytes::{BufMut, BytesMut};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type};

use super::{
    Kind, Value,
    postgres_money::{self, BoxError},
};
use crate::{Error, Timestamp};

/// From 1970-01-01, where ours begins, to 2000-01-01, where PostgreSQL's time begins.
const EPOCH_MICROS: i64 = 946_684_800_000_000;

/// The value in a column of a row.
pub(crate) fn read(row: &tokio_postgres::Row, index: usize) -> Result<Value<'_>, Error> {
    row.try_get::<_, Read<'_>>(index)
        .map(|read| read.0)
        .map_err(|error| {
            let cause = error.source().map(ToString::to_string).unwrap_or_default();
            Error::other(format!("{error}: {cause}"))
        })
}

/// The type that a statement is prepared with for a parameter of this kind.
pub(crate) fn parameter_type(kind: Kind) -> Type {
    match kind {
        Kind::Unknown => Type::UNKNOWN,
        Kind::Integer => Type::INT8,
        Kind::Boolean => Type::BOOL,
        Kind::Text => Type::TEXT,
        Kind::Bytes => Type::BYTEA,
        Kind::Money => Type::NUMERIC,
        Kind::Timestamp => Type::TIMESTAMPTZ,
    }
}

struct Read<'a>(Value<'a>);

impl<'a> FromSql<'a> for Read<'a> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, BoxError> {
        let value = match *kind {
            Type::INT8 => Value::Integer(i64::from_sql(kind, raw)?),
            Type::INT4 => Value::Integer(i32::from_sql(kind, raw)?.into()),
            Type::INT2 => Value::Integer(i16::from_sql(kind, raw)?.into()),
            Type::BOOL => Value::Boolean(bool::from_sql(kind, raw)?),
            Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN => {
                Value::Text(<&str>::from_sql(kind, raw)?)
            }
            Type::BYTEA => Value::Bytes(raw),
            Type::NUMERIC => Value::Money(postgres_money::decode(raw)?),
            Type::TIMESTAMPTZ => Value::Timestamp(decode_time(raw)?),
            _ => return Err(format!("no value is read from type {kind}").into()),
        };
        Ok(Self(value))
    }

    fn from_sql_null(_kind: &Type) -> Result<Self, BoxError> {
        Ok(Self(Value::Null(Kind::Unknown)))
    }

    fn accepts(_kind: &Type) -> bool {
        true
    }
}

fn decode_time(raw: &[u8]) -> Result<Timestamp, BoxError> {
    match i64::from_be_bytes(raw.try_into()?) {
        i64::MIN | i64::MAX => Err("an infinite timestamp".into()),
        micros => micros
            .checked_add(EPOCH_MICROS)
            .map(Timestamp::from_micros)
            .ok_or_else(|| "a timestamp beyond 64 bits".into()),
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, BoxError> {
        match (*self, kind) {
            (Value::Null(_), _) => return Ok(IsNull::Yes),
            (Value::Integer(integer), &Type::INT8) => out.put_i64(integer),
            (Value::Integer(integer), &Type::INT4) => out.put_i32(integer.try_into()?),
            (Value::Integer(integer), &Type::INT2) => out.put_i16(integer.try_into()?),
            (Value::Boolean(boolean), &Type::BOOL) => out.put_u8(boolean.into()),
            (
                Value::Text(text),
                &(Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME | Type::UNKNOWN),
            ) => {
                if text.contains('\0') {
                    return Err("a text with a NUL character".into());
                }
                out.put_slice(text.as_bytes());
            }
            (Value::Bytes(bytes), &Type::BYTEA) => out.put_slice(bytes),
            (Value::Money(money), &Type::NUMERIC) => postgres_money::encode(money, out)?,
            (Value::Timestamp(time), &Type::TIMESTAMPTZ) => {
                let micros = time.micros().checked_sub(EPOCH_MICROS);
                out.put_i64(micros.ok_or("a timestamp before PostgreSQL's time")?);
            }
            (value, kind) => {
                return Err(format!("{} where {kind} is wanted", value.described()).into());
            }
        }
        Ok(IsNull::No)
    }

    fn accepts(_kind: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}
