# Installs ralph from a release archive on Windows:
#
#   irm https://github.com/ralph-board/ralph/releases/latest/download/install.ps1 | iex
#
# Options, by environment:
#   RALPH_VERSION        the version to install, such as 0.2.0   [default: the latest release]
#   RALPH_INSTALL_DIR    the folder to install to                [default: ~\.local\bin]
#   RALPH_DOWNLOAD_BASE  the URL of the releases                 [default: the releases on GitHub]

# Everything runs inside this function, so that a partly downloaded script does nothing and `iex` keeps the caller's settings.
function Install-Ralph {
    $ErrorActionPreference = 'Stop'
    # The progress bar makes downloads in Windows PowerShell several times slower.
    $ProgressPreference = 'SilentlyContinue'
    $repository = 'https://github.com/ralph-board/ralph'

    # Windows on Arm runs x86-64 programs, too.
    if ($env:PROCESSOR_ARCHITECTURE -notin 'AMD64', 'ARM64' -and -not $env:PROCESSOR_ARCHITEW6432) {
        throw "there is no prebuilt ralph for Windows on $env:PROCESSOR_ARCHITECTURE; build it with ``cargo install ralph-board``"
    }
    # Windows PowerShell may offer only older versions of TLS, which GitHub refuses.
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

    $target = 'x86_64-pc-windows-msvc'
    $archive = "ralph-$target.zip"
    $dir = if ($env:RALPH_INSTALL_DIR) { $env:RALPH_INSTALL_DIR } else { Join-Path $HOME '.local\bin' }
    $base = if ($env:RALPH_DOWNLOAD_BASE) { $env:RALPH_DOWNLOAD_BASE } else { "$repository/releases" }
    $base = if ($env:RALPH_VERSION) { "$base/download/v$($env:RALPH_VERSION -replace '^v', '')" } else { "$base/latest/download" }

    $tmp = Join-Path ([IO.Path]::GetTempPath()) "ralph-$([Guid]::NewGuid())"
    New-Item -ItemType Directory -Path $tmp | Out-Null
    try {
        foreach ($file in 'SHA256SUMS', $archive) {
            try {
                Invoke-WebRequest -UseBasicParsing -Uri "$base/$file" -OutFile (Join-Path $tmp $file)
            } catch {
                throw "cannot download $base/${file}: $($_.Exception.Message)"
            }
        }
        $line = Get-Content (Join-Path $tmp 'SHA256SUMS') | Where-Object { ($_ -split '\s+\*?')[1] -eq $archive } | Select-Object -First 1
        if (-not $line) { throw "SHA256SUMS at $base has no checksum for $archive" }
        $expected = ($line -split '\s+')[0]
        $actual = (Get-FileHash -Algorithm SHA256 (Join-Path $tmp $archive)).Hash
        # -ne ignores case, and Get-FileHash prints capitals.
        if ($actual -ne $expected) {
            throw "the checksum of $archive is wrong: expected $expected, got $($actual.ToLower()); nothing was installed"
        }
        Expand-Archive -Path (Join-Path $tmp $archive) -DestinationPath $tmp

        New-Item -ItemType Directory -Force -Path $dir | Out-Null
        $exe = Join-Path $dir 'ralph.exe'
        Move-Item (Join-Path $tmp "ralph-$target\ralph.exe") "$exe.new" -Force
        # Windows can rename a program that is running, but neither overwrite nor remove it. The old program may still run
        # when the next installation comes, so each gets its own name.
        Get-ChildItem "$exe.old*" | Remove-Item -Force -ErrorAction SilentlyContinue
        if (Test-Path $exe) { Move-Item $exe "$exe.old-$([Guid]::NewGuid())" }
        Move-Item "$exe.new" $exe
        Get-ChildItem "$exe.old*" | Remove-Item -Force -ErrorAction SilentlyContinue
    } finally {
        Remove-Item $tmp -Recurse -Force
    }

    $version = & $exe --version
    if ($LASTEXITCODE -ne 0) { throw "the installed $exe does not run on this system" }
    Write-Host "installed $version to $exe"
    if (($env:Path -split ';') -notcontains $dir) {
        Write-Host "hint: $dir is not on your PATH; add it in Settings > System > About > Advanced system settings > Environment Variables"
    }
}

Install-Ralph
