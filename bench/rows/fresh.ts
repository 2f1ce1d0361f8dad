import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createSystemClock } from '../../src/lib/time/clock.ts'
import { dayMs, isoInstant } from '../../src/lib/time/instant.ts'
import type { BenchOptions, Line } from '../row.ts'
import { type Sample, samples } from '../samples.ts'
import { serveWellhead } from '../server.ts'

const shown = 10
const shownLater = 3
const barMs = 300
/** A binary, and the image in it, are seldom as young as here when somebody starts a copy. */
const laterDays = 30

interface FirstAnswer {
  sample: Sample
  ms: number
}

/**
 * Every GET of the interface with its sample, each the first question to an evaluation copy of its
 * own, right after its ready line; then the same in a copy that begins a month after the build.
 */
export async function fresh(options: BenchOptions): Promise<Line[]> {
  const later = isoInstant(createSystemClock().now() + laterDays * dayMs)
  const [atOnce, aged] = [
    await firstAnswers(options, []),
    await firstAnswers(options, ['--clock', later]),
  ]
  return [
    ...linesOf('first answer of a fresh copy', atOnce, shown),
    ...linesOf(`the same ${laterDays} days after the build`, aged, shownLater),
  ]
}

/** Slowest first. */
async function firstAnswers(
  { dir, say }: BenchOptions,
  args: readonly string[],
): Promise<FirstAnswer[]> {
  const answers: FirstAnswer[] = []
  for (const sample of samples) {
    const ms = await firstAnswerMs(join(dir, 'fresh'), sample, args)
    say(`fresh: ${sample.path} ${ms.toFixed(0)} ms`)
    answers.push({ sample, ms })
  }
  return answers.sort((a, b) => b.ms - a.ms)
}

function linesOf(what: string, answers: readonly FirstAnswer[], shownLines: number): Line[] {
  const within = answers.filter(({ ms }) => ms <= barMs).length
  return answers.slice(0, shownLines).map(({ sample, ms }, place) => ({
    row: `${what}, GET ${sample.path}`,
    ours: `${ms.toFixed(0)} ms`,
    yardstick: place === 0 ? `${within} of ${answers.length} within the bar` : '',
    ratio: undefined,
    atLeast: `${barMs} ms`,
    met: ms <= barMs,
  }))
}

async function firstAnswerMs(
  dir: string,
  sample: Sample,
  args: readonly string[],
): Promise<number> {
  rmSync(dir, { recursive: true, force: true })
  const server = await serveWellhead(dir, 'dev', 'built', { args })
  try {
    const startedAt = performance.now()
    const response = await fetch(`http://127.0.0.1:${server.port}${sample.sample}`, {
      headers: sample.headersOf(server),
    })
    await response.arrayBuffer()
    if (response.status >= 400) throw new Error(`${sample.path} was answered ${response.status}`)
    return performance.now() - startedAt
  } finally {
    await server.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}
