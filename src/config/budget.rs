//! A budget: how much may be spent, in money, tokens or runs.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// US dollars.
    Usd(f64),
    Tokens(u64),
    Runs(u64),
}

impl Budget {
    /// `$5`, `2.50 usd`, `300k tokens`, `1.5M tokens` or `20 runs`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        if let Some(amount) = text.strip_prefix('$') {
            return usd(amount);
        }
        let unit = text.find(|c: char| c.is_alphabetic() && !matches!(c, 'k' | 'm'))?;
        let (amount, unit) = (text[..unit].trim_end(), &text[unit..]);
        match unit {
            "usd" => usd(amount),
            "token" | "tokens" => Some(Self::Tokens(count(amount)?)),
            "run" | "runs" => Some(Self::Runs(count(amount)?)),
            _ => None,
        }
    }
}

fn usd(amount: &str) -> Option<Budget> {
    let amount: f64 = amount.trim().parse().ok()?;
    (amount.is_finite() && amount >= 0.0).then_some(Budget::Usd(amount))
}

/// A whole number, with `k` for thousands and `m` for millions.
fn count(amount: &str) -> Option<u64> {
    let (number, factor) = match amount.strip_suffix('k') {
        Some(number) => (number, 1e3),
        None => amount.strip_suffix('m').map_or((amount, 1.0), |number| (number, 1e6)),
    };
    let all = number.trim().parse::<f64>().ok()? * factor;
    let whole = all.is_finite() && all >= 0.0 && all.fract() == 0.0 && all <= 1e15;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just above")]
    whole.then_some(all as u64)
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usd(amount) => write!(f, "${amount:.2}"),
            Self::Tokens(count) => write!(f, "{count} tokens"),
            Self::Runs(1) => f.write_str("1 run"),
            Self::Runs(count) => write!(f, "{count} runs"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_have_a_unit() {
        for (text, wanted) in [
            ("$5", Budget::Usd(5.0)),
            ("2.50 USD", Budget::Usd(2.5)),
            ("300k tokens", Budget::Tokens(300_000)),
            ("1.5M tokens", Budget::Tokens(1_500_000)),
            ("7 tokens", Budget::Tokens(7)),
            ("3 runs", Budget::Runs(3)),
            ("1 run", Budget::Runs(1)),
        ] {
            assert_eq!(Budget::parse(text), Some(wanted), "{text}");
        }
        for bad in ["", "5", "$", "$-1", "5 euros", "runs", "1.5 runs", "-3 runs", "$nan", "inf runs", "5 k"] {
            assert_eq!(Budget::parse(bad), None, "{bad}");
        }
    }
}
