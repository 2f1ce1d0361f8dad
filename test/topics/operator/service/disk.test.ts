import { describe, expect, test } from 'bun:test'
import type { ReserveFile } from '../../../../src/lib/files/reserve-file.ts'
import { createLog } from '../../../../src/lib/log/log.ts'
import { createManualClock } from '../../../../src/lib/time/clock.ts'
import { createDisk } from '../../../../src/topics/operator/service/disk.ts'

const megabyte = 2 ** 20
const fullText = 'the disk is full; writes resume with 20 MB free'

const fault = (code: string) => Object.assign(new Error('no'), { code })

function diskWorld() {
  const clock = createManualClock(Date.parse('2026-11-20T15:00:00Z'))
  const lines: { level: string; msg: string; reason?: string }[] = []
  const state = { free: 100, isReserved: false, writable: true }
  const reserve: ReserveFile = {
    bytes: 10 * megabyte,
    bytesNeeded: 20 * megabyte,
    free: () => state.free,
    isReserved: () => state.isReserved,
    keep() {
      if (!state.isReserved && state.free >= 20) {
        state.isReserved = true
        state.free -= 10
      }
      return state.isReserved
    },
    giveBack() {
      const wasReserved = state.isReserved
      if (wasReserved) state.free += 10
      state.isReserved = false
      return wasReserved
    },
  }
  const disk = createDisk({
    clock,
    settings: {
      set() {
        if (!state.writable) throw fault('SQLITE_FULL')
      },
    },
    log: createLog({
      level: 'info',
      format: 'json',
      clock,
      write: line => void lines.push(JSON.parse(line)),
    }),
  })
  return {
    clock,
    lines,
    state,
    reserve,
    disk,
    errors: () => lines.filter(l => l.level === 'error'),
  }
}

describe('a disk that cannot be written', () => {
  test('an unwritable disk is logged immediately, every minute and when it recovers', () => {
    const { clock, disk, state, lines, errors } = diskWorld()
    state.writable = false
    expect(disk.failed(fault('SQLITE_IOERR_WRITE'))).toBe(true)
    expect(errors()).toMatchObject([
      { msg: 'storage_unwritable', reason: expect.stringContaining('IOERR') },
    ])
    for (let second = 0; second < 150; second += 1) {
      clock.advance(1000)
      disk.failed(fault('SQLITE_IOERR_WRITE'))
      disk.pass()
    }
    expect(errors().length).toBe(3)
    state.writable = true
    clock.advance(1000)
    disk.pass()
    expect(disk.fault()).toBeUndefined()
    expect(lines.at(-1)).toMatchObject({ msg: 'storage_writable', level: 'info' })
  })

  test('an error that is not its own is nothing', () => {
    const { disk, lines } = diskWorld()
    expect([disk.failed(new Error('no')), disk.failed(fault('SQLITE_CONSTRAINT'))]).toEqual([
      false,
      false,
    ])
    expect(lines).toEqual([])
  })
})

describe('a full disk', () => {
  test('a full disk releases its reserve, refuses bulk writes and recovers when the reserve fits again', () => {
    const { disk, state, reserve } = diskWorld()
    disk.attach(reserve)
    expect(state.isReserved).toBe(true)
    disk.admit()
    state.free = 0
    disk.failed(fault('SQLITE_FULL'))
    expect({ isReserved: state.isReserved, free: state.free }).toEqual({
      isReserved: false,
      free: 10,
    })
    expect(() => disk.admit()).toThrow('the disk is full')
    // A small write succeeds now, in the room of the reserve.
    disk.pass()
    expect(disk.fault()?.reason).toBe(fullText)
    state.free = 50
    disk.pass()
    expect({ fault: disk.fault(), isReserved: state.isReserved }).toEqual({
      fault: undefined,
      isReserved: true,
    })
    disk.admit()
  })

  test('at the start is one too', () => {
    const { disk, state, reserve, errors } = diskWorld()
    state.free = 3
    disk.attach(reserve)
    expect(errors()).toMatchObject([{ msg: 'storage_unwritable', reason: fullText }])
    expect(() => disk.admit()).toThrow()
  })
})
