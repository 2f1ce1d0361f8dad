/** A value of a point, known from its moment on until the next. */
export interface Version {
  value: number
  recordedAt: number
}

/**
 * Adds a write of a point to its versions, in the simplest way. With its own moment (`isExplicit`)
 * it may belong before the newest; otherwise it follows it.
 */
export function addVersion(versions: Version[], version: Version, isExplicit: boolean) {
  const last = versions.at(-1)
  if (isExplicit && last && version.recordedAt < last.recordedAt) addToPast(versions, version)
  else if (last?.value === version.value) return
  else if (last && version.recordedAt <= last.recordedAt) last.value = version.value
  else versions.push(version)
}

/** Puts what was known before the newest version where it belongs; nothing twice in a row. */
function addToPast(versions: Version[], version: Version) {
  const before = versions.findLast(other => other.recordedAt <= version.recordedAt)
  if (before?.value === version.value) return
  if (before?.recordedAt === version.recordedAt) {
    before.value = version.value
    return
  }
  const place = before ? versions.indexOf(before) + 1 : 0
  // The same value as the next: that was known for longer.
  const isSame = versions[place]?.value === version.value
  versions.splice(place, isSame ? 1 : 0, version)
}
