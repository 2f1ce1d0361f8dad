import { afterAll, beforeAll, expect, test } from 'bun:test'
import { needs } from '../../support/needs.ts'
import { openStage, type Stage } from './stage.ts'

needs('chromium').describe('lists of the operator', () => {
  let stage: Stage

  beforeAll(async () => {
    stage = await openStage()
  }, 120_000)
  afterAll(async () => {
    await stage?.close()
  })

  const operator = async (width: number) => {
    const visitor = await stage.visitor({ width, isSignedIn: false })
    await visitor.goTo('/status')
    await visitor.page.evaluate(
      `sessionStorage.setItem('operator', '${stage.instance.adminToken}')`,
    )
    return visitor
  }

  test('retired series come last, and each is found by its code and its name', async () => {
    const { page, goTo } = await operator(1440)
    await fetch(`${stage.origin}/admin/v1/series/BRENT_CRUDE_USD`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${stage.instance.adminToken}` },
    })
    await goTo('/operator/series')
    await page.waitForSelector('section[aria-labelledby=series] tbody tr')
    const first = page.locator('section[aria-labelledby=series] tbody tr').first()
    expect(await first.locator('.tag').textContent()).toBe('Active')
    for (const words of ['BRENT_CRUDE_USD', 'brent crude', 'retired brent']) {
      await page.fill('main input[type=search]', words)
      const row = page.locator('section[aria-labelledby=series] tr:has(a[href$=BRENT_CRUDE_USD])')
      await row.locator('.tag:text-is("Retired")').waitFor()
    }
  })

  test('the requests and deliveries of the desk have the same edges in every entry on a phone', async () => {
    const { page, goTo } = await operator(390)
    const long = 'WTI_USD,BRENT_CRUDE_USD,NATURAL_GAS_USD,DUBAI_CRUDE_USD'
    for (const path of ['/v1/demo/prices', `/v1/prices/latest?by_code=${long}`, '/v1/x'])
      await fetch(stage.origin + path, { method: path === '/v1/x' ? 'DELETE' : 'GET' })
    await goTo('/desk/requests')
    await page.waitForSelector('.entry:nth-child(3)')
    const edges = await page.evaluate<
      number[][]
    >(`[...document.querySelectorAll('.entry > summary')].map(
      each => [':nth-child(2)', '.path', '.nowrap', '.number'].map((part, i) => {
        const box = each.querySelector(':scope > ' + part).getBoundingClientRect()
        return Math.round(i === 3 ? box.right : box.left)
      }))`)
    expect(new Set(edges.map(String)).size).toBe(1)
  })

  test('pages fit a window of 320 px, as of a desk at four times its size', async () => {
    const { goTo, overflow } = await stage.visitor({ width: 320 })
    for (const path of ['/docs', '/markets/power', '/alerts', '/board', '/webhooks']) {
      await goTo(path)
      expect(await overflow(), path).toBeLessThanOrEqual(0)
    }
  })

  test('a screen reader reads each button of a table with the name of its row', async () => {
    const { page, goTo } = await stage.visitor()
    await page.addInitScript(`sessionStorage.setItem('operator', '${stage.instance.adminToken}')`)
    let count = 0
    for (const path of [
      '/account',
      '/account/members',
      '/account/plan',
      '/alerts',
      '/webhooks',
      '/operator/feeds',
      '/operator/series',
      '/operator/system',
    ]) {
      await goTo(path)
      await page.waitForSelector('tbody td button')
      const tables = await page.evaluate<string[][]>(`[...document.querySelectorAll('table')].map(
        table => [...table.querySelectorAll('td button:not(dialog *)')].map(
          button => button.getAttribute('aria-label') ?? button.textContent))`)
      for (const names of tables) {
        expect(
          names.filter((name, i) => names.indexOf(name) < i),
          path,
        ).toEqual([])
        count += names.length
      }
      const dialogs = await page
        .locator('td dialog')
        .evaluateAll(all => all.map(dialog => dialog.getAttribute('aria-label')))
      expect(new Set(dialogs).size, path).toBe(dialogs.length)
    }
    expect(count).toBeGreaterThan(50)
  })

  test('figures fill their rows, however wide the window is', async () => {
    const { page, goTo } = await operator(1440)
    await goTo('/operator')
    for (const width of [1440, 1024, 768, 600, 390, 320]) {
      await page.setViewportSize({ width, height: 900 })
      const tops = await page
        .locator('section[aria-labelledby=data-figures] .figure')
        .evaluateAll(all => all.map(figure => figure.getBoundingClientRect().top))
      const rows = new Set(tops)
      expect(tops.length % rows.size, `${width}: ${tops}`).toBe(0)
      for (const row of rows)
        expect(tops.filter(top => top === row).length).toBe(tops.length / rows.size)
    }
  })
})
