import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchOptions } from './row.ts'
import { root } from './server.ts'

/** A data directory filled for measuring. */
export interface Filled {
  dir: string
  /** Keys of accounts on the largest plan. */
  tokens: string[]
  /** The code with a twentieth of the points. */
  code: string
  /** Of its points, Unix ms. */
  firstAt: number
  lastAt: number
  stepMs: number
}

export interface Filling {
  points: number
  keys: number
}

/** Fills a directory in a process of its own, once: what is there, whole and of this schema is used again. */
export async function filled(name: string, { points, keys }: Filling, { dir, say }: BenchOptions): Promise<Filled> {
  const schema = Bun.hash.wyhash(readFileSync(join(root, 'schema.sql'))).toString(36)
  const target = join(dir, `${name}-${points}-${keys}-${schema}`)
  const note = join(target, 'filled.json')
  if (!existsSync(note)) {
    mkdirSync(target, { recursive: true })
    say(`filling ${target} with ${points} points and ${keys} keys`)
    const child = Bun.spawn([process.execPath, join(import.meta.dir, 'fill.ts'), target, String(points), String(keys)], {
      cwd: root,
      stdin: 'ignore',
      stdout: 'inherit',
      stderr: 'inherit',
    })
    if ((await child.exited) !== 0) throw new Error(`filling ${target} failed`)
  }
  return { dir: target, ...(JSON.parse(readFileSync(note, 'utf8')) as Omit<Filled, 'dir'>) }
}
