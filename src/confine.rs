//! Which files a program may write, enforced by the kernel: Landlock on Linux, nothing elsewhere.
//!
//! A process confines itself and then becomes the program; everything that the program starts is confined alike. Reading is
//! not restricted.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The only places that a program may change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Files, and folders with all that is below them. What does not exist is left out.
    pub write: Vec<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    #[error("this kernel cannot confine a program (Landlock is missing or disabled)")]
    Unsupported,
    #[cfg(target_os = "linux")]
    #[error("cannot confine the program: {0}")]
    Landlock(#[from] landlock::RulesetError),
}

/// Whether this kernel can confine a program.
pub fn is_supported() -> bool {
    system::is_supported()
}

/// Confines this process, and whatever it becomes or starts, for good.
pub fn enter(confinement: &Confinement) -> Result<(), ConfineError> {
    system::enter(confinement)
}

#[cfg(target_os = "linux")]
mod system {
    use landlock::{
        ABI, AccessFs, BitFlags, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
        RulesetStatus, path_beneath_rules,
    };

    use super::{ConfineError, Confinement};

    /// The newest rights that are asked for: renames across folders and truncation need them. Older kernels have fewer,
    /// and refuse such renames altogether.
    const NEWEST: ABI = ABI::V3;

    pub fn is_supported() -> bool {
        let needed = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        needed.handle_access(AccessFs::from_write(ABI::V1)).and_then(Ruleset::create).is_ok()
    }

    pub fn enter(confinement: &Confinement) -> Result<(), ConfineError> {
        // Devices may be written to, and none may be made.
        let devices: BitFlags<AccessFs> = AccessFs::WriteFile | AccessFs::Truncate;
        let status = Ruleset::default()
            .handle_access(AccessFs::from_write(NEWEST))?
            .create()?
            .add_rules(path_beneath_rules(&confinement.write, AccessFs::from_write(NEWEST)))?
            .add_rules(path_beneath_rules(["/dev"], devices))?
            .restrict_self()?;
        match status.ruleset {
            RulesetStatus::NotEnforced => Err(ConfineError::Unsupported),
            RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{ConfineError, Confinement};

    pub fn is_supported() -> bool {
        false
    }

    pub fn enter(_: &Confinement) -> Result<(), ConfineError> {
        Err(ConfineError::Unsupported)
    }
}
