import { expect, test } from 'bun:test'
import { constants, getPriority } from 'node:os'

const file = new URL('../../../src/lib/process/yield-turn.ts', import.meta.url).pathname

test('a process that gives way is scheduled after others', () => {
  const { stdout } = Bun.spawnSync([
    process.execPath,
    '-e',
    `import { getPriority } from 'node:os'; import { yieldTurn } from ${JSON.stringify(file)}; yieldTurn(); console.log(getPriority())`,
  ])
  const expected = Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL)
  expect(Number(stdout.toString())).toBe(expected)
})
