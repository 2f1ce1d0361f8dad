/**
 * Nothing else is minified: renaming identifiers silently switches off numeric bounds of request
 * schemas.
 */
export const minified = ['--minify-whitespace', '--minify-syntax'] as const

/**
 * Compiles the program for a target, `bun-linux-x64-musl` and its like; without one for this
 * machine. Neither bunfig.toml nor .env of the working directory may change what the binary does.
 * Bytecode in addition to the source costs 6 MB and saves parsing at every start: two thirds of the
 * time to the first response. The assets are files that the program finds within itself. Returns
 * the exit code.
 */
export function compile(outfile: string, assets: readonly string[], target?: string): number {
  const built = Bun.spawnSync(
    [
      process.execPath,
      'build',
      '--compile',
      '--bytecode',
      // Bytecode alone would mean CommonJS, which has no `await` at the top.
      '--format=esm',
      // Modules that are loaded on demand do not delay a start, and the threads share their modules
      // with the program: otherwise each would have its own bundle, with its bytecode.
      '--splitting',
      ...minified,
      '--no-compile-autoload-bunfig',
      '--no-compile-autoload-dotenv',
      '--define',
      'process.env.NODE_ENV="production"',
      '--define',
      `process.env.BUILD_COMMIT=${JSON.stringify(process.env.BUILD_COMMIT || lastCommit('%h'))}`,
      '--define',
      `process.env.BUILD_DAY=${JSON.stringify(process.env.BUILD_DAY || lastCommit('%cs'))}`,
      'src/main.ts',
      // A separate thread, which the program starts by its name.
      'src/threads/query-worker.thread.ts',
      'src/threads/replication-publisher.thread.ts',
      'src/threads/file-syncer.thread.ts',
      'src/threads/checkpointer.thread.ts',
      // Not entry points: those would change the names of the threads.
      ...assets.flatMap(asset => ['--asset', asset]),
      '--outfile',
      outfile,
      ...(target === undefined ? [] : [`--target=${target}`]),
    ],
    { stdout: 'inherit', stderr: 'inherit', env: { ...process.env, NODE_ENV: 'production' } },
  )
  return built.exitCode
}

/** Something of the commit that is checked out; empty where there is no history. */
function lastCommit(format: string): string {
  const shown = Bun.spawnSync(['git', 'log', '-1', `--format=${format}`], { stderr: 'ignore' })
  return shown.exitCode === 0 ? shown.stdout.toString().trim() : ''
}
