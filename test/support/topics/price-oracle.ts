/** A value that a point had, as the model keeps it. */
export interface Version {
  value: number
  /** Known from this instant on, and up to the other; undefined: it is current. */
  from: number
  to: number | undefined
  source: string
  /** The batch that wrote it, and the one that ended it; 0: unknown. */
  batch: number
  endedBy: number
}

type BatchKind = 'push' | 'file' | 'correction' | 'undo' | 'release'

interface Batch {
  kind: BatchKind
  undoes: number | undefined
  isUndone: boolean
}

interface Point {
  at: number
  /** In the order of `from`; they never overlap. */
  versions: Version[]
}

interface Code {
  points: Map<number, Point>
  hidden: Map<number, { from: number; to: number }>
  isActive: boolean
  visibleTo: readonly string[] | undefined
}

/** A value to write. */
export interface Write {
  code: string
  at: number
  value: number
  source: string
  /** When it became known, where that is not now. */
  recordedAt?: number | undefined
}

export interface Row {
  at: number
  value: number
}

const currentOf = ({ versions }: Point): Version | undefined => {
  const last = versions.at(-1)
  return last?.to === undefined ? last : undefined
}

/**
 * What an instance knows of prices, as plain lists in memory: an independent account of pushes,
 * corrections, deletions, undos, quarantine, review and visibility.
 */
export function createPriceOracle(names: readonly string[]) {
  const codes = new Map<string, Code>(
    names.map(name => [
      name,
      { points: new Map(), hidden: new Map(), isActive: true, visibleTo: undefined },
    ]),
  )
  const batches = new Map<number, Batch>()
  const rejected = new Set<string>()
  const codeOf = (name: string): Code => codes.get(name)!
  const pointOf = (name: string, at: number): Point => {
    const { points } = codeOf(name)
    const point = points.get(at) ?? { at, versions: [] }
    points.set(at, point)
    return point
  }
  const isDeciding = (id: number): boolean => {
    const kind = batches.get(id)?.kind
    return kind === 'correction' || kind === 'undo'
  }

  /**
   * A value that was known before the present one began: it counts until the next one, which is
   * undone to this one, except by a batch that wrote both.
   */
  const writePast = (
    id: number,
    { versions }: Point,
    from: number,
    { value, source }: Write,
  ): void => {
    const at = versions.findLast(version => version.from <= from)
    const isCovered = at?.to !== undefined && from < at.to
    if (isCovered && at.value === value) return
    if (at?.from === from) {
      Object.assign(at, { value, source })
      return
    }
    const next = versions.find(version => version.from > from)!
    const to = isCovered ? at.to : next.from
    const endedBy = isCovered ? at.endedBy : next.batch
    const isOwn = endedBy === id
    if (isCovered) Object.assign(at, { to: from, endedBy: isOwn ? id : 0 })
    const made = { value, from, to, source, batch: 0, endedBy: isOwn ? 0 : endedBy }
    versions.splice(versions.indexOf(next), 0, made)
  }

  const write = (id: number, now: number, given: Write): void => {
    const point = pointOf(given.code, given.at)
    const { versions } = point
    const { value, source, recordedAt } = given
    const current = currentOf(point)
    const made = { value, to: undefined, source, batch: id, endedBy: 0 }
    if (!current) {
      const goneAt = versions.at(-1)?.to ?? Number.NEGATIVE_INFINITY
      versions.push({ ...made, from: Math.max(recordedAt ?? now, goneAt) })
      return
    }
    const from = recordedAt ?? now
    if (from < current.from) {
      writePast(id, point, from, given)
      return
    }
    if (current.value === value) return
    if (from === current.from) versions.pop()
    else Object.assign(current, { to: from, endedBy: id })
    versions.push({ ...made, from })
  }

  const remove = (id: number, from: number, name: string, at: number): void => {
    const point = pointOf(name, at)
    const current = currentOf(point)
    if (!current || from <= current.from) return
    Object.assign(current, { to: from, endedBy: id })
  }

  /** Whether others wrote a point after a batch, and were not undone. */
  const isTouched = ({ versions }: Point, id: number): boolean => {
    const writers = versions.flatMap(({ batch, to, endedBy }) =>
      to === undefined ? [batch] : [batch, endedBy],
    )
    const turns = writers.filter((writer, i) => writer !== writers[i - 1])
    const left: number[] = []
    for (const writer of turns.slice(turns.lastIndexOf(id) + 1)) {
      const undoes = batches.get(writer)?.undoes
      if (undoes !== undefined && left.at(-1) === undoes) left.pop()
      else left.push(writer)
    }
    return left.length > 0
  }

  /** Whether an operator decided against a value that its source had given before. */
  const isOverruled = ({ code, at, value, source, recordedAt }: Write): boolean => {
    const point = pointOf(code, at)
    const current = currentOf(point)
    const last = point.versions.at(-1)
    if (rejected.has(`${code} ${at} ${value}`) && current?.value !== value) return true
    if (!last || !isDeciding(current ? last.batch : last.endedBy)) return false
    if (current?.value === value) return false
    if (current && recordedAt !== undefined && recordedAt < current.from) return false
    return point.versions.some(
      version => !isDeciding(version.batch) && version.value === value && version.source === source,
    )
  }

  const isHidden = (code: Code, at: number): boolean =>
    [...code.hidden.values()].some(({ from, to }) => from <= at && at < to)

  return {
    code: codeOf,
    currentOf: (name: string, at: number) => currentOf(pointOf(name, at)),
    begin(id: number, kind: BatchKind, undoes?: number) {
      batches.set(id, { kind, undoes, isUndone: false })
    },
    write,
    remove,
    isOverruled,
    reject: ({ code, at, value }: Pick<Write, 'code' | 'at' | 'value'>) =>
      void rejected.add(`${code} ${at} ${value}`),
    /** Gives back what was there before a batch, except where others wrote since. */
    undo(id: number, undone: number, now: number) {
      const counts = { restored: 0, removed: 0, left: 0 }
      batches.get(undone)!.isUndone = true
      batches.set(id, { kind: 'undo', undoes: undone, isUndone: false })
      for (const [name, { points }] of codes)
        for (const point of points.values()) {
          const { versions } = point
          if (!versions.some(({ batch, endedBy }) => batch === undone || endedBy === undone))
            continue
          const before = versions.findLast(
            version => version.endedBy === undone && version.batch !== undone,
          )
          if (isTouched(point, undone)) counts.left += 1
          else if (before) {
            counts.restored += 1
            write(id, now, { code: name, at: point.at, value: before.value, source: before.source })
          } else {
            counts.removed += 1
            remove(id, now, name, point.at)
          }
        }
      return counts
    },
    isHidden: (name: string, at: number) => isHidden(codeOf(name), at),
    isUndone: (id: number) => batches.get(id)!.isUndone,
    sees: (name: string, account: string): boolean => {
      const { isActive, visibleTo } = codeOf(name)
      return isActive && (visibleTo === undefined || visibleTo.includes(account))
    },
    /** The values of a code that are served of those that were known at an instant, oldest first. */
    stateAt(name: string, moment: number): Row[] {
      const code = codeOf(name)
      return [...code.points.values()]
        .filter(({ at }) => !isHidden(code, at))
        .flatMap(({ at, versions }) => {
          const known = versions.find(
            ({ from, to }) => from <= moment && (to === undefined || moment < to),
          )
          return known ? [{ at, value: known.value }] : []
        })
        .sort((a, b) => a.at - b.at)
    },
    /** Every value of a code that is served, with when it was known. */
    versions(name: string): (Version & { at: number })[] {
      const code = codeOf(name)
      return [...code.points.values()]
        .filter(({ at }) => !isHidden(code, at))
        .sort((a, b) => a.at - b.at)
        .flatMap(({ at, versions }) => versions.map(version => ({ at, ...version })))
    },
    /** When anything of a code was first known. */
    since: (name: string): number =>
      Math.min(
        Number.POSITIVE_INFINITY,
        ...[...codeOf(name).points.values()].flatMap(({ versions }) => versions[0]?.from ?? []),
      ),
  }
}
