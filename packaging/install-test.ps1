# Tries packaging/install.ps1 against a local server that offers a program as a release: install-test.ps1 BINARY
# One line per check; the exit status is 1 if any check failed.
param([Parameter(Mandatory)][string]$Binary)
$ErrorActionPreference = 'Stop'
$archive = 'ralph-x86_64-pc-windows-msvc.zip'
$tmp = Join-Path ([IO.Path]::GetTempPath()) "ralph-test-$([Guid]::NewGuid())"
$good = Join-Path $tmp 'www\latest\download'
$assets = Join-Path $tmp 'assets'
New-Item -ItemType Directory -Path $good, $assets | Out-Null
& $Binary completions powershell | Set-Content (Join-Path $assets 'ralph.ps1')
python (Join-Path $PSScriptRoot 'archive') $Binary $good --target x86_64-pc-windows-msvc --assets $assets
if ($LASTEXITCODE -ne 0) { throw 'cannot make the archive' }
$hash = (Get-FileHash -Algorithm SHA256 (Join-Path $good $archive)).Hash.ToLower()
Set-Content (Join-Path $good 'SHA256SUMS') "$hash  $archive"

# One broken release for each fault.
foreach ($fault in 'wrong-checksum', 'no-archive') {
    $place = Join-Path $tmp "www\download\v$fault"
    New-Item -ItemType Directory -Path $place | Out-Null
    Copy-Item (Join-Path $good '*') $place
}
Add-Content (Join-Path $tmp "www\download\vwrong-checksum\$archive") 'x'
Remove-Item (Join-Path $tmp "www\download\vno-archive\$archive")

$listener = [Net.Sockets.TcpListener]::new([Net.IPAddress]::Loopback, 0)
$listener.Start()
$port = $listener.LocalEndpoint.Port
$listener.Stop()
$www = Join-Path $tmp 'www'
$server = Start-Process python -PassThru -WindowStyle Hidden -ArgumentList '-m', 'http.server', $port, '--bind', '127.0.0.1', '--directory', $www
$failed = $false

function Test-Install([string]$Name, [string]$Shell, [string]$Version, [int]$Status, [string]$Text) {
    $env:RALPH_VERSION = $Version
    $said = (& $Shell -NoProfile -ExecutionPolicy Bypass -Command "& '$PSScriptRoot\install.ps1' 2>&1; if (-not `$?) { exit 1 }" | Out-String) -replace '[\s|]+', ' '
    if ($LASTEXITCODE -eq $Status -and $said.Contains($Text)) {
        Write-Host "ok   ${Shell}: $Name"
    } else {
        Write-Host "FAIL ${Shell}: $Name (exit status $LASTEXITCODE; wanted $Status and `"$Text`")`n     $said"
        $script:failed = $true
    }
}

try {
    $env:RALPH_DOWNLOAD_BASE = "http://127.0.0.1:$port"
    $env:RALPH_INSTALL_DIR = Join-Path $tmp 'a folder'
    for ($i = 0; $i -lt 100; $i++) {
        try { Invoke-WebRequest -UseBasicParsing "$env:RALPH_DOWNLOAD_BASE/" | Out-Null; break } catch { Start-Sleep -Milliseconds 100 }
    }
    foreach ($shell in 'powershell', 'pwsh') {
        Test-Install 'install the latest' $shell '' 0 'installed ralph'
        Test-Install 'install again' $shell '' 0 'installed ralph'
        Test-Install 'wrong checksum' $shell 'wrong-checksum' 1 'is wrong: expected'
        Test-Install 'missing archive' $shell 'no-archive' 1 'cannot download'
    }
    & (Join-Path $env:RALPH_INSTALL_DIR 'ralph.exe') --version
} finally {
    Stop-Process -Id $server.Id
    Remove-Item $tmp -Recurse -Force -ErrorAction SilentlyContinue
}
if ($failed) { exit 1 }
Write-Host 'all checks passed'
