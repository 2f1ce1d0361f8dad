import { afterAll, beforeAll, expect, test } from 'bun:test'
import { needs } from '../../support/needs.ts'
import { until } from '../../support/until.ts'
import { openStage, type Stage } from './stage.ts'

needs('chromium').describe('the pages of the console', () => {
  let stage: Stage

  beforeAll(async () => {
    stage = await openStage()
  }, 120_000)
  afterAll(async () => {
    await stage?.close()
  })

  test('a page is printed in dark ink, with its headings and its whole chart, without its controls', async () => {
    const { page, context, goTo } = await stage.visitor({ scheme: 'dark', width: 1442 })
    await goTo('/series/WTI_USD')
    await page.waitForSelector('.market canvas')
    await page.emulateMedia({ media: 'print' })
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`)
    expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(28, 32, 36)')
    expect(await page.locator('th button:has-text("Close")').isVisible()).toBe(true)
    expect(await page.locator('main :is(input, select, .group, .button):visible').count()).toBe(0)
    const widest = `Math.max(...[...document.querySelectorAll('canvas')].map(c => c.clientWidth))`
    expect(await page.evaluate<number>(widest)).toBeLessThanOrEqual(700)
    await page.emulateMedia({ media: 'screen' })
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`)
    await until('the chart is as wide as before', async () => {
      return (await page.evaluate<number>(widest)) > 900
    })
    await context.close()
  })

  test('a long table is printed with all of its rows, also where only some are drawn yet', async () => {
    const { page, goTo } = await stage.visitor()
    const cycleTime = '**/v1/well-production/cycle-time'
    const wells = Array.from({ length: 500 }, (_, i) => ({ name: `Well ${i}`, days: i }))
    await page.route(cycleTime, route => route.fulfill({ json: { data: { wells } } }))
    await goTo('/commodities/wells?report=Cycle%20time')
    await page.waitForSelector('table.report tbody tr')
    // The browser prints as soon as its event has been handled.
    const [drawn, printed] = await page.evaluate<[number, number]>(`(() => {
      const count = () => document.querySelectorAll('table.report tbody tr').length
      const drawn = count()
      dispatchEvent(new Event('beforeprint'))
      return [drawn, count()]
    })()`)
    expect(drawn).toBeLessThan(500)
    expect(printed).toBe(500)
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`)
    await page.unroute(cycleTime)
  })

  test('a narrower window shows the newest value of a chart too', async () => {
    const { page, context, goTo } = await stage.visitor({ width: 1443 })
    await goTo('/series/WTI_USD')
    await page.waitForSelector('.market canvas')
    await page.setViewportSize({ width: 600, height: 900 })
    const width = `document.querySelector('.market canvas').clientWidth`
    await until('the chart is narrow', async () => (await page.evaluate<number>(width)) < 600)
    // The address has the stretch in sight once the chart was touched.
    await page.locator('.market .plot').click()
    await page.waitForURL(/zoom=\d+_\d+/)
    const zoom = new URL(page.url()).searchParams.get('zoom') ?? ''
    const newest = stage.instance.clock.now() / 1000
    expect(newest - Number(zoom.split('_')[1])).toBeLessThan(5 * 86_400)
    await context.close()
  })

  test('a chart that is put back to today says so, also after its slider was only moved', async () => {
    const { page, goTo } = await stage.visitor()
    await goTo('/series/WTI_USD')
    const move = (days: number, event: string) =>
      page.evaluate(`(() => {
        const slider = document.querySelector('#known')
        slider.value = slider.max - ${days}
        slider.dispatchEvent(new Event('${event}', { bubbles: true }))
      })()`)
    const shown = page.locator('label[for=known] strong')
    await move(100, 'change')
    await page.waitForURL(/as_of=/)
    await move(90, 'input')
    await move(100, 'input')
    await page.locator('.known button:text-is("Today")').click()
    await page.waitForURL(url => !url.search.includes('as_of=2'))
    await until('the label says today', async () => (await shown.textContent()) === 'today', 5_000)
  })

  test('a report names its figures in words', async () => {
    const { page, goTo } = await stage.visitor()
    await goTo('/commodities/products?report=Gasoil%20crack')
    await page.waitForSelector('section[aria-label="Gasoil crack: figures"]')
    expect(await page.locator('.card .figure > span').allInnerTexts()).toEqual([
      'Value',
      'Product price',
      'Crude price',
      'Barrels per tonne',
      'Gasoil, USD/bbl',
    ])
    expect(await page.locator('.card .figure:has-text("tonne") b').textContent()).toContain('7.45')
    const facts = await page.locator('.card dt').allInnerTexts()
    expect(facts.slice(0, 2)).toEqual(['Name', 'Product code'])
  })

  test('records with the same fields are the rows of a table', async () => {
    const { page, goTo } = await stage.visitor()
    await goTo('/commodities?report=By%20region')
    await page.waitForSelector('tr:has-text("PADD 1")')
    expect(await page.locator('table.report tbody tr').count()).toBe(5)
    await goTo('/commodities/quality?report=WTI%2C%20past%20day')
    await page.waitForSelector('table.report th')
    expect((await page.locator('table.report thead th').allInnerTexts())[0]).toBe('Observed')
  })

  test('a count among days has no fraction, and a field of some days names them', async () => {
    const { page, goTo } = await stage.visitor()
    const cycleTime = '**/v1/well-production/cycle-time'
    const stats = { count: 1142, median_days: 243, avg_days: 244.31, min_days: 104 }
    await page.route(cycleTime, route =>
      route.fulfill({ json: { data: { permits_30d: 640, cycle_time_stats: stats } } }),
    )
    await goTo('/commodities/wells?report=Cycle%20time')
    await page.waitForSelector('table.report tbody tr')
    expect(await page.locator('table.report tbody td').allInnerTexts()).toEqual([
      '1,142',
      '243.00',
      '244.31',
      '104.00',
    ])
    expect(await page.locator('.card .figure > span').allInnerTexts()).toEqual(['Permits, 30 days'])
    await page.unroute(cycleTime)
  })

  test('a stock has none of the words of a price in its statistics', async () => {
    const { page, goTo } = await stage.visitor()
    const labels = page.locator('section[aria-labelledby=statistics] .figure > span')
    await goTo('/series/US_CRUDE_STORAGE?tab=statistics')
    await labels.first().waitFor()
    expect((await labels.allInnerTexts()).join()).not.toMatch(/RSI|Support|Resistance/)
    await goTo('/series/WTI_USD?tab=statistics')
    await labels.first().waitFor()
    expect((await labels.allInnerTexts()).join()).toMatch(/RSI.*Support.*Resistance/)
  })

  test('no table of the market is cut in a window of 1280 px', async () => {
    const { page, goTo } = await stage.visitor({ width: 1280 })
    await goTo('/market')
    await page.waitForSelector('section[aria-labelledby=spreads-now] tbody tr .range')
    const cut = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.morning .scroll')]
        .filter(part => part.scrollWidth > part.clientWidth)
        .map(part => part.closest('section[aria-labelledby]').getAttribute('aria-labelledby'))`,
    )
    expect(cut).toEqual([])
  })

  test('the market fits a window of 1280 px with text of twice the size', async () => {
    const { page, goTo, overflow } = await stage.visitor({ width: 1280 })
    await goTo('/market')
    await page.waitForSelector('.multiples .tile svg')
    await page.evaluate(`document.documentElement.style.fontSize = '200%'`)
    expect(await overflow()).toBeLessThanOrEqual(0)
  })

  test('tables of the market that scroll on the screen are whole on paper', async () => {
    const { page, goTo } = await stage.visitor({ width: 1280 })
    await goTo('/market')
    await page.waitForSelector('section[aria-labelledby=movers] .tall')
    await page.emulateMedia({ media: 'print' })
    const heights = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.tall')].map(part => getComputedStyle(part).maxHeight)`,
    )
    expect(new Set(heights)).toEqual(new Set(['none']))
    await page.emulateMedia({ media: 'screen' })
  })

  test('the result of a backtest is not shown for a condition that was changed since', async () => {
    const { page, goTo } = await stage.visitor()
    const backtest = '**/v1/alerts/backtest'
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    await page.route(backtest, async route => {
      await released
      await route.continue()
    })
    const asked = page.waitForRequest(backtest)
    const answered = page.waitForResponse(backtest)
    await goTo('/alerts/new?code=WTI_USD&value=70')
    await asked
    await page.fill('input[inputmode=decimal]', '')
    release()
    await (await answered).finished()
    // Whatever the page does with the response is done before it has that of a later request.
    await page.evaluate(`fetch('/status.json').then(answer => answer.text())`)
    expect(await page.locator('main .notice.good').count()).toBe(0)
    await page.unroute(backtest)
  })

  test('a plan names what it adds to the plan before it', async () => {
    const { page, goTo } = await stage.visitor()
    await goTo('/account/plan')
    const features = page.locator('tr:has(th:has-text("Scale")) td >> text=Everything in')
    expect(await features.textContent()).toBe('Everything in Professional, Well permits')
  })

  test('on a phone, the menu stays next to a long name of the service', async () => {
    const { page, goTo } = await stage.visitor({ width: 390 })
    await goTo('/status')
    const apart = await page.evaluate<number>(`(() => {
      const name = document.querySelector('.rail .name')
      name.querySelector('span').textContent = 'Nordsee Energiedaten und Preise'
      const middle = part => part.getBoundingClientRect().top + part.getBoundingClientRect().height / 2
      return Math.abs(middle(name) - middle(document.querySelector('.rail .menu')))
    })()`)
    expect(apart).toBeLessThan(2)
  })

  test('on a phone, the chosen tab of a series is in sight', async () => {
    const { page, goTo } = await stage.visitor({ width: 390 })
    await goTo('/series/WTI_USD?tab=api')
    const tab = page.locator('nav[aria-label="More of this series"] [aria-current=page]')
    await tab.waitFor()
    const box = await tab.boundingBox()
    expect((box?.x ?? 999) + (box?.width ?? 0)).toBeLessThanOrEqual(390)
    expect(await page.evaluate<number>('scrollY')).toBe(0)
  })
})
