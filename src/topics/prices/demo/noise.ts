/** 32-bit FNV-1a of a text: the key under which a process draws its noise. */
export function keyOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return mix(hash)
}

/** The finaliser of MurmurHash3. */
function mix(value: number): number {
  let h = value | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/**
 * An unsigned 32-bit integer that depends on the key and the counter only: any draw can be repeated
 * without those before it.
 */
export const draw = (key: number, counter: number): number =>
  mix(key + Math.imul(counter, 0x9e3779b9))

/** In [0, 1). */
export const uniform = (key: number, counter: number): number => draw(key, counter) / 4294967296

/**
 * Mean 0, standard deviation 1, at most 3.5 from 0: four 16-bit uniforms added, which is near
 * enough to a normal for prices and needs no logarithm.
 */
export function normal(key: number, counter: number): number {
  const a = draw(key, counter)
  const b = mix(a ^ 0x5bd1e995)
  return ((a & 0xffff) + (a >>> 16) + (b & 0xffff) + (b >>> 16) - 131070) / 37837.2
}
