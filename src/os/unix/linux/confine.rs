//! Landlock. A process confines itself and then becomes the program; every program that it starts is confined, too. Reading is
//! not restricted.

use landlock::{
    ABI, AccessFs, BitFlags, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
    RulesetError, RulesetStatus, path_beneath_rules,
};

use crate::os::{ConfineError, Confinement};

/// The newest rights that are used: renames across folders and truncation need them. Older kernels have fewer rights and refuse
/// such renames.
const NEWEST: ABI = ABI::V3;

/// Whether this kernel can confine a program.
pub fn is_supported() -> bool {
    let needed = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    needed.handle_access(AccessFs::from_write(ABI::V1)).and_then(Ruleset::create).is_ok()
}

/// Confines this process permanently, and every program that it becomes or starts.
pub fn enter(confinement: &Confinement) -> Result<(), ConfineError> {
    let refused = |error: RulesetError| ConfineError::Refused(error.to_string());
    match restrict(confinement).map_err(refused)? {
        RulesetStatus::NotEnforced => Err(ConfineError::Unsupported),
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
    }
}

fn restrict(confinement: &Confinement) -> Result<RulesetStatus, RulesetError> {
    // Devices may be written to, but not created.
    let devices: BitFlags<AccessFs> = AccessFs::WriteFile | AccessFs::Truncate;
    let status = Ruleset::default()
        .handle_access(AccessFs::from_write(NEWEST))?
        .create()?
        .add_rules(path_beneath_rules(&confinement.write, AccessFs::from_write(NEWEST)))?
        .add_rules(path_beneath_rules(["/dev"], devices))?
        .restrict_self()?;
    Ok(status.ruleset)
}
