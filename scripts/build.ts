import { mkdirSync } from 'node:fs'

/**
 * Builds the one binary. Whitespace and syntax are minified and nothing else: renaming identifiers silently switches off numeric
 * bounds of request schemas. Neither bunfig.toml nor .env of the working directory may change what the binary does.
 */
mkdirSync('dist', { recursive: true })
const built = Bun.spawnSync(
  [
    process.execPath,
    'build',
    '--compile',
    '--minify-whitespace',
    '--minify-syntax',
    '--no-compile-autoload-bunfig',
    '--no-compile-autoload-dotenv',
    '--define',
    'process.env.NODE_ENV="production"',
    'src/main.ts',
    '--outfile',
    'dist/wellhead',
  ],
  { stdout: 'inherit', stderr: 'inherit', env: { ...process.env, NODE_ENV: 'production' } },
)
process.exit(built.exitCode)
