import type { Clock } from '../../../lib/time/clock.ts'

/**
 * Where progress is kept, beside the data, so that a copy that is restored goes on from where it
 * was.
 */
export interface Progress {
  get(name: string): string | undefined
  set(name: string, value: string): void
}

/** How far the prices of a copy have been written. */
export interface PriceProgress {
  /** When the copy began; the first to ask makes it now. */
  startedAt(): number
  /** The same, without beginning. */
  begunAt(): number | undefined
  /** Up to where the codes that have begun have everything. */
  filledTo(): number | undefined
  setFilledTo(at: number): void
  /** The codes whose history is complete. */
  filled(): ReadonlySet<string>
  addFilled(codes: readonly string[]): void
  /**
   * Up to where an image brought the newest stretch of every code, and those that are numbered
   * together whole.
   */
  imagedTo(): number | undefined
  /** The codes whose history the image has too. */
  imagedWhole(): ReadonlySet<string>
  /** Whether the newest stretch of every code is there. */
  hasBegun(): boolean
  setBegun(): void
  paused: boolean
}

const names = {
  startedAt: 'fixture.started_at',
  filledTo: 'fixture.filled_to',
  filled: 'fixture.filled',
  imagedTo: 'fixture.imaged_to',
  imagedWhole: 'fixture.imaged_whole',
  /** The newest stretch of every code is there. */
  begun: 'fixture.begun',
  paused: 'fixture.paused',
}

/** Takes the beginning of a copy back: the prices that it has begun with are those of an image. */
export function forgetBeginning(settings: Progress & { remove(name: string): void }): void {
  const to = settings.get(names.filledTo) ?? settings.get(names.startedAt)
  if (to !== undefined) settings.set(names.imagedTo, to)
  settings.set(names.imagedWhole, settings.get(names.filled) ?? '')
  for (const name of [names.startedAt, names.filledTo, names.filled, names.begun])
    settings.remove(name)
}

/** When a copy began; undefined before it has. */
export const begunAtOf = (settings: Pick<Progress, 'get'>): number | undefined =>
  instantOf(settings, names.startedAt)

function instantOf(settings: Pick<Progress, 'get'>, name: string): number | undefined {
  const text = settings.get(name)
  return text === undefined ? undefined : Number(text)
}

export function createPriceProgress(kept: Progress, clock: Pick<Clock, 'now'>): PriceProgress {
  const settings = remembered(kept)
  const instant = (name: string) => instantOf(settings, name)
  const filled = codesOf(settings, names.filled)
  return {
    startedAt() {
      const stored = instant(names.startedAt)
      if (stored !== undefined) return stored
      const now = clock.now()
      settings.set(names.startedAt, String(now))
      return now
    },
    begunAt: () => instant(names.startedAt),
    filledTo: () => instant(names.filledTo) ?? instant(names.startedAt),
    setFilledTo: at => settings.set(names.filledTo, String(at)),
    filled,
    addFilled: codes => settings.set(names.filled, [...filled(), ...codes].join(' ')),
    imagedTo: () => instant(names.imagedTo),
    imagedWhole: codesOf(settings, names.imagedWhole),
    hasBegun: () => settings.get(names.begun) !== undefined,
    setBegun: () => settings.set(names.begun, 'true'),
    get paused() {
      return settings.get(names.paused) === 'true'
    },
    set paused(isPaused) {
      settings.set(names.paused, String(isPaused))
    },
  }
}

/** Reads a list of codes, which is taken apart once for each of its changes. */
function codesOf(settings: Pick<Progress, 'get'>, name: string): () => ReadonlySet<string> {
  let known = { text: '', codes: new Set<string>() as ReadonlySet<string> }
  return () => {
    const text = settings.get(name) ?? ''
    if (text !== known.text) known = { text, codes: new Set(text.split(' ').filter(Boolean)) }
    return known.codes
  }
}

/** Every read of a series asks how far its code is, and nobody else writes it. */
function remembered(settings: Progress): Progress {
  const values = new Map<string, string | undefined>()
  return {
    get(name) {
      if (!values.has(name)) values.set(name, settings.get(name))
      return values.get(name)
    },
    set(name, value) {
      settings.set(name, value)
      values.set(name, value)
    },
  }
}
