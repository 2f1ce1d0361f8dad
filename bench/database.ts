import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchOptions } from './row.ts'
import { root } from './server.ts'

/** A data directory filled for measuring. */
export interface Filled {
  dir: string
  /** Keys of accounts on the largest plan. */
  tokens: string[]
  /** The first of the codes, which share the points equally. */
  code: string
  codes: string[]
  /** The time of the first point, Unix ms. */
  firstAt: number
  lastAt: number
  stepMs: number
}

export interface Filling {
  points: number
  keys: number
  codes?: number
  /**
   * Ten minutes unless given: a million points reach back nineteen years, so that months too come
   * to more than one page of 100.
   */
  stepMinutes?: number
}

/** The database that pages and starts are measured on. */
export const large = (options: BenchOptions): Promise<Filled> =>
  filled('large', { points: options.points, keys: 5 }, options)

/**
 * A demo instance with all of its data, created in a separate process; one created on the same day
 * is used again.
 */
export async function filledCopy({ dir, say }: BenchOptions): Promise<string> {
  const target = join(dir, `copy-${new Date().toISOString().slice(0, 10)}-${schemaHash()}`)
  if (!existsSync(join(target, 'filled.json'))) {
    say(`filling the demo instance ${target}`)
    await run('fill-copy.ts', [target])
  }
  return target
}

export interface FilledPermits {
  dir: string
  /** A key of an account on the largest plan. */
  token: string
}

/** A register of well permits; one that is there, whole and of this schema, is used again. */
export async function filledPermits({ dir, permits, say }: BenchOptions): Promise<FilledPermits> {
  const target = join(dir, `permits-${permits}-${schemaHash()}`)
  const note = join(target, 'filled.json')
  if (!existsSync(note)) {
    mkdirSync(target, { recursive: true })
    say(`filling ${target} with ${permits} well permits`)
    await run('fill-permits.ts', [target, String(permits)])
  }
  return { dir: target, ...(JSON.parse(readFileSync(note, 'utf8')) as Omit<FilledPermits, 'dir'>) }
}

const schemaHash = () => Bun.hash.wyhash(readFileSync(join(root, 'schema.sql'))).toString(36)

async function run(script: string, args: readonly string[]): Promise<void> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, script), ...args], {
    cwd: root,
    stdin: 'ignore',
    stdout: 'inherit',
    stderr: 'inherit',
  })
  if ((await child.exited) !== 0) throw new Error(`${script} ${args.join(' ')} failed`)
}

/** Fills a directory in a separate process, once: a complete one with this schema is used again. */
export async function filled(
  name: string,
  { points, keys, codes = 20, stepMinutes = 10 }: Filling,
  { dir, say }: BenchOptions,
): Promise<Filled> {
  const target = join(dir, `${name}-${points}-${keys}-${schemaHash()}`)
  const note = join(target, 'filled.json')
  if (!existsSync(note)) {
    mkdirSync(target, { recursive: true })
    say(`filling ${target} with ${points} points and ${keys} keys`)
    await run('fill.ts', [target, ...[points, keys, codes, stepMinutes].map(String)])
  }
  return { dir: target, ...(JSON.parse(readFileSync(note, 'utf8')) as Omit<Filled, 'dir'>) }
}

/** Makes a directory that of an instance without a price: commands need one. */
export async function emptied(target: string, options: BenchOptions): Promise<void> {
  const empty = await filled('empty', { points: 0, keys: 1 }, options)
  rmSync(target, { recursive: true, force: true })
  cpSync(empty.dir, target, { recursive: true })
}
