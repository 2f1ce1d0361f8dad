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

/**
 * Puts what was known before the newest version where it belongs. One with the value of the next
 * stays as well, because readers have received both.
 */
function addToPast(versions: Version[], version: Version) {
  const before = versions.findLast(other => other.recordedAt <= version.recordedAt)
  if (before?.value === version.value) return
  if (before?.recordedAt === version.recordedAt) {
    before.value = version.value
    return
  }
  const place = before ? versions.indexOf(before) + 1 : 0
  versions.splice(place, 0, version)
}
