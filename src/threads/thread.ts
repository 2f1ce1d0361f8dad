/**
 * Starts a thread by the name of its entry in this folder. In the compiled binary this module is part
 * of a chunk at the root of the program's files, and the entries keep their folder below that root.
 */
export function spawnThread(entry: string): Worker {
  const folder = /\/threads\/[^/]*$/.test(import.meta.url) ? './' : './threads/'
  return new Worker(new URL(`${folder}${entry}.thread.ts`, import.meta.url).href)
}
