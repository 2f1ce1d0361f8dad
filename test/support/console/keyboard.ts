import { expect } from 'bun:test'
import type { Page } from 'playwright-core'

interface Stop {
  /** What the focus is on, so that somebody finds it. */
  name: string
  isVisible: boolean
  /** Numbered in the order in which the focus came by; the same number is the same thing. */
  id: number
  hasParts: boolean
}

/** What has the focus, in the window of the page; `id` 0 where nothing has it. */
const focused = `(() => {
  const seen = (self.tabStops ??= new WeakMap())
  const thing = document.activeElement
  if (!thing || thing === document.body || thing === document.documentElement)
    return { id: 0, name: 'the window', isVisible: true, hasParts: false }
  if (!seen.has(thing)) seen.set(thing, (self.tabStopCount = (self.tabStopCount ?? 0) + 1))
  const style = getComputedStyle(thing)
  const hasOutline = style.outlineStyle === 'auto' || (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2)
  const box = thing.getBoundingClientRect()
  return {
    id: seen.get(thing),
    name: thing.outerHTML.slice(0, 120),
    isVisible: hasOutline && box.width > 0 && box.height > 0,
    hasParts: thing.matches('iframe, [type^=date], [type=time]'),
  }
})()`

export const focusOf = (page: Page): Promise<Stop> => page.evaluate<Stop>(focused)

const stopsMax = 150
const partsMax = 20

/**
 * Presses Tab from the top of the page until the focus has gone through all of it, or through the
 * first stops of a long one, and expects each stop to be seen and none to hold the focus.
 */
export async function walkByTab(page: Page, where: string): Promise<number> {
  await page.evaluate('document.activeElement?.blur()')
  const seen = new Set<number>()
  let [last, repeated] = [0, 0]
  for (let pressed = 0; pressed < stopsMax; pressed += 1) {
    await page.keyboard.press('Tab')
    const stop = await focusOf(page)
    // Behind the last stop the window has it, and then the first one again.
    if (stop.id === 0 || (stop.id === 1 && seen.size > 1)) break
    repeated = stop.id === last ? repeated + 1 : 0
    // A field of a day has its parts, which the browser marks, and a letter its links.
    const isPart = stop.hasParts && repeated > 0
    const isSeen = stop.isVisible || isPart
    expect(isSeen, `${where}: the focus is not seen on ${stop.name}`).toBe(true)
    const isAgain = isPart ? repeated > partsMax : seen.has(stop.id)
    expect(isAgain, `${where}: the focus does not get past ${stop.name}`).toBe(false)
    seen.add(stop.id)
    last = stop.id
  }
  return seen.size
}

/** Presses Tab until what `selector` names has the focus, which must be seen. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  const wanted = page.locator(selector).first()
  await wanted.waitFor()
  for (let pressed = 0; pressed < 400; pressed += 1) {
    const isThere = (await wanted.and(page.locator(':focus')).count()) > 0
    if (isThere) {
      const stop = await focusOf(page)
      expect(stop.isVisible, `the focus is not seen on ${stop.name}`).toBe(true)
      return
    }
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not come to ${selector}`)
}
