import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createHeap } from '../../src/lib/heap.ts'

test('a heap returns pushed items in ascending order, regardless of pops in between', () => {
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.integer({ min: 0, max: 50 })), { maxLength: 200 }),
      operations => {
        const heap = createHeap<number>()
        let model: number[] = []
        for (const value of operations) {
          if (value !== null) {
            heap.push(value, value * 2)
            model.push(value)
          } else {
            const least = model.length > 0 ? Math.min(...model) : undefined
            expect(heap.peek()?.at).toBe(least as number)
            expect(heap.pop()?.at).toBe(least as number)
            const place = model.indexOf(least as number)
            model = model.filter((_, i) => i !== place)
          }
          expect(heap.size).toBe(model.length)
        }
        expect(Array.from({ length: model.length }, () => heap.pop()!.value)).toEqual(
          model.toSorted((a, b) => a - b).map(at => at * 2),
        )
        expect(heap.pop()).toBeUndefined()
      },
    ),
  )
})
