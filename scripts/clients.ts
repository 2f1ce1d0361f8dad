import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { withParametersInPlace } from '../src/http/openapi/parameters.ts'
import { documentText } from './clients/document.ts'
import type { Document } from './clients/operations.ts'
import { pythonModules } from './clients/python.ts'
import { typescriptModules } from './clients/typescript.ts'

const root = resolve(import.meta.dir, '..')

function writeModules(directory: string, modules: Record<string, string>): void {
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(directory, name), text)
}

function run(command: string[], cwd: string): void {
  const outcome = Bun.spawnSync(command, { cwd, stdout: 'pipe', stderr: 'pipe' })
  if (outcome.exitCode !== 0)
    throw new Error(`${command.join(' ')}:\n${outcome.stdout}${outcome.stderr}`)
}

/** JavaScript for import and for require, and the types of both, from the sources in `<out>/src`. */
async function compilePackage(
  out: string,
  entry: string,
  target: 'browser' | 'node',
): Promise<void> {
  const types = join(out, 'types')
  const configPath = join(out, 'tsconfig.json')
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    outDir: types,
    rootDir: join(out, 'src'),
    lib: ['ESNext', 'DOM', 'DOM.Iterable'],
    types: target === 'node' ? ['node'] : [],
    typeRoots: [join(root, 'node_modules/@types')],
  }
  writeFileSync(
    configPath,
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: ['src'] }),
  )
  run([process.execPath, join(root, 'node_modules/typescript/bin/tsc'), '-p', configPath], root)
  for (const format of ['esm', 'cjs'] as const) {
    const built = await Bun.build({
      entrypoints: [join(out, 'src', `${entry}.ts`)],
      outdir: join(out, format),
      format,
      target,
    })
    if (!built.success) throw new Error(built.logs.join('\n'))
    cpSync(types, join(out, format), { recursive: true })
    for (const file of new Bun.Glob('*.d.ts').scanSync(join(out, format))) {
      const path = join(out, format, file)
      writeFileSync(
        path,
        readFileSync(path, 'utf8').replace(/(from\s+["']\.\/[\w-]+)\.ts(["'])/g, '$1.js$2'),
      )
    }
    const type = format === 'esm' ? 'module' : 'commonjs'
    writeFileSync(join(out, format, 'package.json'), `{ "type": "${type}" }\n`)
  }
  for (const path of [types, configPath, join(out, 'src')]) rmSync(path, { recursive: true })
}

/**
 * Writes the clients as packages into a directory: `python`, `typescript` and `testkit`, and the
 * document that the first two are generated from. The generated code is in no repository, only in
 * these packages.
 */
const [directory = 'dist/clients', address] = process.argv.slice(2)
const out = resolve(directory)
const text = await documentText(address)
const document = withParametersInPlace(JSON.parse(text) as Document)
for (const name of ['python', 'typescript', 'testkit']) {
  rmSync(join(out, name), { recursive: true, force: true })
  mkdirSync(join(out, name), { recursive: true })
  cpSync(join(root, 'clients', name), join(out, name), {
    recursive: true,
    filter: path => !/\/(tests?|__pycache__|\.mypy_cache)$/.test(path),
  })
}
writeFileSync(join(out, 'openapi.json'), text)
writeModules(join(out, 'python/wellhead'), pythonModules(document))
writeModules(join(out, 'typescript/src'), await typescriptModules(document))
// The runtime of the generated client goes into the package, which then needs nothing.
cpSync(join(root, 'node_modules/@oazapfts'), join(out, 'typescript/src/node_modules/@oazapfts'), {
  recursive: true,
})
await compilePackage(join(out, 'typescript'), 'client', 'browser')
await compilePackage(join(out, 'testkit'), 'testkit', 'node')
process.stdout.write(`${out}\n`)
process.exit(0)
