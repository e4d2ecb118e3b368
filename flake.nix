{
  description = "A git-native, file-based task board for people and coding agents who share one repository";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs =
    { self, nixpkgs }:
    let
      inherit (nixpkgs) lib;
      manifest = (lib.importTOML ./Cargo.toml).package;
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "aarch64-darwin"
      ];
      forEachSystem = build: lib.genAttrs systems (system: build nixpkgs.legacyPackages.${system});

      ralph =
        {
          rustPlatform,
          installShellFiles,
          stdenv,
        }:
        rustPlatform.buildRustPackage {
          pname = manifest.name;
          inherit (manifest) version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          nativeBuildInputs = [ installShellFiles ];
          # The tests drive browsers, agent programs and real git remotes; `tests/run` runs them outside the sandbox.
          doCheck = false;
          postInstall = lib.optionalString (stdenv.buildPlatform.canExecute stdenv.hostPlatform) ''
            bash packaging/assets "$out/bin/ralph" assets
            installShellCompletion --cmd ralph --bash assets/completions/ralph.bash \
              --fish assets/completions/ralph.fish --zsh assets/completions/_ralph
            installManPage assets/man/*.1
          '';
          doInstallCheck = stdenv.buildPlatform.canExecute stdenv.hostPlatform;
          installCheckPhase = ''
            "$out/bin/ralph" --version | grep -F ${lib.escapeShellArg manifest.version}
          '';
          meta = {
            inherit (manifest) description;
            homepage = manifest.repository;
            license = with lib.licenses; [
              mit
              asl20
            ];
            mainProgram = "ralph";
          };
        };
    in
    {
      packages = forEachSystem (pkgs: {
        default = pkgs.callPackage ralph { };
      });

      devShells = forEachSystem (pkgs: {
        default = pkgs.mkShell {
          packages = with pkgs; [
            cargo
            cargo-nextest
            clippy
            git
            rustc
            rustfmt
          ];
        };
      });
    };
}
