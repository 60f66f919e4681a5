//! The provider's maximum amount of a payment by method, checked before the call.

use std::fmt;
use std::str::FromStr;

use db::Money;

use super::{MethodKind, PaymentRequest, Refusal};

/// The largest amount of each method. The limits of card and pix depend on the merchant's account,
/// so they are settings. A boleto's bar code has ten digits for the amount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaxAmounts(Vec<(MethodKind, Money)>);

/// The text is not a valid list of amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is no list of methods with their largest amounts")]
pub struct MaxAmountsError;

impl MaxAmounts {
    /// The largest amount of a boleto: 99,999,999.99 reais.
    const BOLETO: Money = Money::from_cents(9_999_999_999);

    /// The largest amount that one of these methods can take. `None` if a method has no limit.
    pub(crate) fn largest(&self, methods: &[MethodKind]) -> Option<Money> {
        let limit = |kind: &MethodKind| {
            let row = self.0.iter().find(|(method, _)| method == kind);
            row.map(|(_, most)| *most)
        };
        let limits: Option<Vec<_>> = methods.iter().map(limit).collect();
        limits?.into_iter().max()
    }

    /// Whether one of these methods can take this amount.
    pub(crate) fn allow(&self, methods: &[MethodKind], amount: Money) -> bool {
        self.largest(methods).is_none_or(|most| amount <= most)
    }

    /// Refuses a payment above the maximum of its method.
    pub(crate) fn check(&self, request: &PaymentRequest) -> Result<(), Refusal> {
        let kind = request.method.kind();
        match self.largest(&[kind]) {
            Some(most) if request.amount > most => {
                let reason = format!("must be at most {most} by {}", kind.name());
                Err(Refusal::invalid("transaction_amount", &reason))
            }
            _ => Ok(()),
        }
    }
}

impl Default for MaxAmounts {
    fn default() -> Self {
        Self(vec![(MethodKind::Boleto, Self::BOLETO)])
    }
}

impl FromStr for MaxAmounts {
    type Err = MaxAmountsError;

    /// Parses `card=60000,boleto=99999999.99`, or `off`.
    fn from_str(text: &str) -> Result<Self, MaxAmountsError> {
        let mut rows: Vec<(MethodKind, Money)> = Vec::new();
        if text.trim() == "off" {
            return Ok(Self(rows));
        }
        for row in text.split(',') {
            let (method, most) = row.split_once('=').ok_or(MaxAmountsError)?;
            let method = MethodKind::of(method.trim()).ok_or(MaxAmountsError)?;
            let most = Money::parse(most.trim()).map_err(|_| MaxAmountsError)?;
            if most <= Money::ZERO || rows.iter().any(|(known, _)| *known == method) {
                return Err(MaxAmountsError);
            }
            rows.push((method, most));
        }
        Ok(Self(rows))
    }
}

impl fmt::Display for MaxAmounts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return formatter.write_str("off");
        }
        for (index, (method, most)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(formatter, "{comma}{}={most}", method.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_reads_and_shows_as_it_is_written() {
        for text in [
            "off",
            "card=60000.00",
            "card=60000.00,pix=0.01,boleto=99999999.99",
        ] {
            assert_eq!(text.parse::<MaxAmounts>().unwrap().to_string(), text);
        }
        let short: MaxAmounts = " card = 60000 , pix=100.5".parse().unwrap();
        assert_eq!(short.to_string(), "card=60000.00,pix=100.50");
        assert_eq!(MaxAmounts::default().to_string(), "boleto=99999999.99");
        for text in [
            "",
            "60000",
            "card",
            "cash=1",
            "card=0",
            "card=-1",
            "card=1.234",
            "card=1,card=2",
            "card=1,",
        ] {
            assert_eq!(text.parse::<MaxAmounts>(), Err(MaxAmountsError), "{text}");
        }
    }
}
