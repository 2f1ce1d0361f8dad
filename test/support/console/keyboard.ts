import { expect } from 'bun:test'
import type { Page } from 'playwright-core'

interface Stop {
  /** What the focus is on, so that somebody finds it. */
  name: string
  isVisible: boolean
  /** Numbered in the order in which the focus came by; the same number is the same thing. */
  id: number
}

/** Notes whatever gets the focus from now on, and how that is seen. */
const recorder = `(() => {
  self.stops = []
  if (self.stopIds) return
  self.stopIds = new WeakMap()
  let count = 0
  document.addEventListener('focusin', ({ target }) => {
    if (!stopIds.has(target)) stopIds.set(target, (count += 1))
    const { outlineStyle, outlineWidth } = getComputedStyle(target)
    const isDrawn = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2
    const { width, height } = target.getBoundingClientRect()
    stops.push({
      id: stopIds.get(target),
      name: target.outerHTML.slice(0, 120),
      isVisible: (isDrawn || outlineStyle === 'auto') && width > 0 && height > 0,
    })
  }, true)
})()`

const pressesMax = 90
/** More than there are parts of a field of a day, through which the focus goes within the field. */
const batch = 15

/**
 * Presses Tab from the top of the page until the focus has gone through all of it, or through the
 * first stops of a long one, and expects each stop to be seen and none to hold the focus.
 */
export async function walkByTab(page: Page, where: string): Promise<number> {
  await page.evaluate('document.activeElement?.blur()')
  await page.evaluate(recorder)
  let before = 0
  for (let pressed = 0; pressed < pressesMax; pressed += batch) {
    for (let press = 0; press < batch; press += 1) await page.keyboard.press('Tab')
    const stops = await page.evaluate<Stop[]>('stops')
    const first = stops[0]
    // Behind the last stop comes the first one again.
    const end = stops.findIndex((stop, i) => i > 0 && stop.id === first?.id)
    const seen = end === -1 ? stops : stops.slice(0, end)
    for (const stop of seen)
      expect(stop.isVisible, `${where}: the focus is not seen on ${stop.name}`).toBe(true)
    const again = seen.find((stop, i) => seen.findIndex(({ id }) => id === stop.id) < i)
    expect(again, `${where}: the focus does not get past it`).toBeUndefined()
    if (end !== -1) return seen.length
    expect(
      seen.length,
      `${where}: the focus stays on ${stops.at(-1)?.name ?? 'the window'}`,
    ).toBeGreaterThan(before)
    before = seen.length
  }
  return before
}

const outlined = `(() => {
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement)
  return outlineStyle === 'auto' || (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2)
})()`

/** Presses Tab until what `selector` names has the focus, which must be seen. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  const wanted = page.locator(selector).first()
  await wanted.waitFor()
  for (let pressed = 0; pressed < 400; pressed += 1) {
    const isThere = (await wanted.and(page.locator(':focus')).count()) > 0
    if (isThere) {
      const isSeen = await page.evaluate<boolean>(outlined)
      expect(isSeen, `the focus is not seen on ${selector}`).toBe(true)
      return
    }
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not come to ${selector}`)
}
