/**
 * Responses per second as `wrk` counts them, an independent program; throws its output where that
 * matches `failed`.
 */
export async function askByWrk(args: readonly string[], failed: RegExp): Promise<number> {
  if (!Bun.which('wrk')) throw new Error('this row needs the program wrk')
  const child = Bun.spawn(['wrk', '-t1', ...args], { stdout: 'pipe', stderr: 'inherit' })
  const text = await new Response(child.stdout).text()
  const [, rate] = /Requests\/sec:\s+([\d.]+)/.exec(text) ?? []
  if (rate === undefined || failed.test(text)) throw new Error(text)
  return Number(rate)
}
