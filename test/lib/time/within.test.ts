import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { within } from '../../../src/lib/time/clock.ts'

const never = new Promise<string>(() => {})

test('within returns the result of work that finishes in time and undefined otherwise', async () => {
  expect(await within(60_000, Promise.resolve('done'))).toBe('done')
  expect(await within(1, never)).toBeUndefined()
})

test('what fails in time fails', async () => {
  const failed = within(60_000, Promise.reject(new Error('broken')))
  expect(await failed.catch(String)).toBe('Error: broken')
})

test('a timer ends with the work: a process that waits for nothing else ends', async () => {
  const clock = join(import.meta.dir, '../../../src/lib/time/clock.ts')
  const program = `const { within } = await import(${JSON.stringify(clock)})
    console.log(await within(3_600_000, Promise.resolve('done')))`
  const child = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe', stderr: 'inherit' })
  expect(await new Response(child.stdout).text()).toBe('done\n')
  expect(await child.exited).toBe(0)
})
