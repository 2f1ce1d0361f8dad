import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { BenchOptions, Line } from '../row.ts'
import { type Sample, samples } from '../samples.ts'
import { serveWellhead } from '../server.ts'

const shown = 10
const barMs = 300

/**
 * Every GET of the interface with its sample, each the first question to an evaluation copy of its
 * own, right after its ready line.
 */
export async function fresh(options: BenchOptions): Promise<Line[]> {
  const answers: { sample: Sample; ms: number }[] = []
  for (const sample of samples) {
    const ms = await firstAnswerMs(join(options.dir, 'fresh'), sample)
    options.say(`fresh: ${sample.path} ${ms.toFixed(0)} ms`)
    answers.push({ sample, ms })
  }
  answers.sort((a, b) => b.ms - a.ms)
  const within = answers.filter(({ ms }) => ms <= barMs).length
  return answers.slice(0, shown).map(({ sample, ms }, place) => ({
    row: `first answer of a fresh copy, GET ${sample.path}`,
    ours: `${ms.toFixed(0)} ms`,
    yardstick: place === 0 ? `${within} of ${answers.length} within the bar` : '',
    ratio: undefined,
    atLeast: `${barMs} ms`,
    met: ms <= barMs,
  }))
}

async function firstAnswerMs(dir: string, sample: Sample): Promise<number> {
  rmSync(dir, { recursive: true, force: true })
  const server = await serveWellhead(dir, 'dev', 'built')
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
