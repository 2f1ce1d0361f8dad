/**
 * Waits for what another process or task brings about. `what` names it in the failure;
 * `details` adds what was seen instead. Returns what `look` found.
 */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  withinMs = 45_000,
  details: () => string | Promise<string> = () => '',
): Promise<NonNullable<T>> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const found = await look()
    if (found) return found
    if (performance.now() > deadline)
      throw new Error(`${what}: not within ${withinMs / 1000} s. ${await details()}`.trim())
    await Bun.sleep(5)
  }
}
