import { expect } from 'bun:test'
import type { CDPSession, Page } from 'playwright-core'

interface Stop {
  /** A description of the focused element, for messages. */
  name: string
  isVisible: boolean
  /** Numbered in the order in which the focus came by; the same number is the same thing. */
  id: number
}

/** Notes whatever gets the focus from now on, and how that is seen. */
const recorder = `(() => {
  document.activeElement?.blur()
  self.stops = []
  self.parts = new MutationObserver(changes => {
    self.isDrawnAnew ||= changes.some(({ removedNodes }) => removedNodes.length > 0)
  })
  self.isDrawnAnew = false
  parts.observe(document.body, { childList: true, subtree: true })
  if (self.stopIds) return
  self.stopIds = new WeakMap()
  let count = 0
  document.addEventListener('focusin', ({ target }) => {
    // Tab does not come here: a page that was drawn late gives the focus to its content.
    if (target.getAttribute('tabindex') === '-1') return
    if (!stopIds.has(target)) stopIds.set(target, (count += 1))
    const { outlineStyle, outlineWidth } = getComputedStyle(target)
    const isDrawn = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2
    const { width, height } = target.getBoundingClientRect()
    stops.push({
      target,
      id: stopIds.get(target),
      name: target.outerHTML.slice(0, 120),
      isVisible: (isDrawn || outlineStyle === 'auto') && width > 0 && height > 0,
    })
  }, true)
})()`

const tabKey = { key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 } as const
const sessions = new WeakMap<Page, Promise<CDPSession>>()

/**
 * Presses Tab so many times without waiting for each press to be processed. Where a frame is a
 * separate process, a press that comes before the focus has left it goes to it again: there each
 * press is awaited.
 */
async function pressTab(page: Page, times: number): Promise<void> {
  if ((await page.locator('iframe').count()) > 0) {
    for (let press = 0; press < times; press += 1) {
      await page.keyboard.press('Tab')
      await page.evaluate(
        'new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn, 20)))',
      )
    }
    return
  }
  const opening = sessions.get(page) ?? page.context().newCDPSession(page)
  sessions.set(page, opening)
  const session = await opening
  const presses = Array.from({ length: times }, () => [
    session.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...tabKey }),
    session.send('Input.dispatchKeyEvent', { type: 'keyUp', ...tabKey }),
  ])
  await Promise.all(presses.flat())
}

const pressesMax = 90
/** How often a page is walked until it counts that the focus came by something twice. */
const walksMax = 4
/** More than there are parts of a field of a day, through which the focus goes within the field. */
const batch = 30

/**
 * Presses Tab from the top of the page until the focus has gone through all of it, or through the
 * first stops of a long one, and expects each stop to be seen and none to hold the focus.
 */
export async function walkByTab(page: Page, where: string, walk = 1): Promise<number> {
  await page.evaluate(recorder)
  let before = 0
  for (let pressed = 0; pressed < pressesMax; pressed += batch) {
    await pressTab(page, batch)
    const stops = await page.evaluate<Stop[]>('stops.map(({ target, ...stop }) => stop)')
    const isDrawnAnew = await page.evaluate<boolean>('isDrawnAnew')
    // Behind the last stop comes the first one again.
    const end = stops.findIndex((stop, i) => i > 0 && stop.id === stops[0]?.id)
    const seen = end === -1 ? stops : stops.slice(0, end)
    for (const stop of seen)
      expect(stop.isVisible, `${where}: the focus is not seen on ${stop.name}`).toBe(true)
    const again = seen.find((stop, i) => seen.findIndex(({ id }) => id === stop.id) < i)
    // The focus was on what is gone, or a frame was slow to let it go: it began from elsewhere.
    if ((isDrawnAnew || again) && walk < walksMax) return await walkByTab(page, where, walk + 1)
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

/** The objects of the page that the functions below use. */
interface PageWindow {
  stopTab?: (event: { key: string; preventDefault(): void }) => void
  document: { activeElement: unknown }
  addEventListener(name: 'keydown', listener: PageWindow['stopTab'], isFirst: boolean): void
  removeEventListener(name: 'keydown', listener: PageWindow['stopTab'], isFirst: boolean): void
  getComputedStyle(element: unknown): { outlineStyle: string; outlineWidth: string }
}

/** In the page: lets the Tab key do nothing any more once the focus is on the element. */
const stopAt = (element: unknown): void => {
  const page = globalThis as unknown as PageWindow
  page.removeEventListener('keydown', page.stopTab, true)
  page.stopTab = event => {
    if (event.key === 'Tab' && page.document.activeElement === element) event.preventDefault()
  }
  page.addEventListener('keydown', page.stopTab, true)
}

/** In the page: whether the element has the focus, and whether that is seen. */
const look = (element: unknown): { isThere: boolean; isSeen: boolean } => {
  const page = globalThis as unknown as PageWindow
  page.removeEventListener('keydown', page.stopTab, true)
  const { outlineStyle, outlineWidth } = page.getComputedStyle(element)
  const isDrawn = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2
  return {
    isThere: page.document.activeElement === element,
    isSeen: isDrawn || outlineStyle === 'auto',
  }
}

/** Presses Tab until what `selector` names has the focus, which must be seen. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  const wanted = page.locator(selector).first()
  for (let pressed = 0; pressed < 400; pressed += batch) {
    await wanted.evaluate(stopAt)
    await pressTab(page, batch)
    // The page may have redrawn it as another element, so it is looked up once more.
    const { isThere, isSeen } = await wanted.evaluate(look)
    if (!isThere) continue
    expect(isSeen, `the focus is not seen on ${selector}`).toBe(true)
    return
  }
  throw new Error(`Tab does not come to ${selector}`)
}
