import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { serveWellhead, type Wellhead } from '../bench/server.ts'
import { pauseFeed } from '../bench/world.ts'
import { pagesOf } from '../test/support/console/pages.ts'

/**
 * Takes pictures of every page of the console, of a demo instance, and of a production instance without data and with a year of some prices,
 * light and dark, at 390 and 1440 px, and sheets with many of them on each.
 * Prints each page that is wider than its window.
 *
 *   bun scripts/screenshots.ts DIR [parts of paths, with commas between; else every page] [kinds]
 *   bun scripts/screenshots.ts --kept
 *
 * The second takes the pictures of the documentation again.
 */

const [target, only = '', kinds = 'full,empty,production,visitor'] = process.argv.slice(2)
if (target === undefined) throw new Error('Name the directory that the pictures go to.')
const isKept = target === '--kept'
const keptDirectory = resolve(import.meta.dir, '../docs/images')
const out = isKept ? keptDirectory : resolve(target)

/** The pictures of the README and of the page about the console, by name. */
const kept = {
  market: '/market',
  series: '/series/WTI_USD?type=candles&indicator=bollinger',
} as const

const pages = [...pagesOf.anyone, ...pagesOf.members, ...pagesOf.operators].filter(
  path => !path.startsWith('/desk'),
)
const desk = pagesOf.operators.filter(path => path.startsWith('/desk'))
/** What a production instance of the pictures has a year of. */
const producedCodes = [
  'WTI_USD',
  'BRENT_CRUDE_USD',
  'DUBAI_CRUDE_USD',
  'NATURAL_GAS_USD',
  'GASOLINE_USD',
  'HEATING_OIL_USD',
  'US_CRUDE_STORAGE',
]
const looks = [
  { scheme: 'light', width: 1440, columns: 3, pageHeight: 1100 },
  { scheme: 'dark', width: 1440, columns: 3, pageHeight: 1100 },
  { scheme: 'light', width: 390, columns: 8, pageHeight: 1600 },
  { scheme: 'dark', width: 390, columns: 8, pageHeight: 1600 },
] as const
const perSheet = { 390: 8, 1440: 6 } as const
const email = 'eval@example.com'
const settled = 'main:has(h1):not(:has(.waiting))'

const operator = async (server: Wellhead, path: string, body: object) => {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${server.adminToken}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} was answered ${response.status}: ${text}`)
  return JSON.parse(text) as { data: { account: { id: string }; sign_in_url: string } }
}

/** The cookie of a member, by a link that the operator makes. */
async function sessionOf(
  server: Wellhead,
  account: string,
): Promise<{ name: string; value: string }> {
  const { data } = await operator(server, `/admin/v1/accounts/${account}/link`, {})
  const token = new URL(data.sign_in_url, 'http://127.0.0.1').searchParams.get('token') ?? ''
  const answer = await fetch(`http://127.0.0.1:${server.port}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ token }),
  })
  const [name = '', value = ''] = answer.headers.get('set-cookie')?.split(';')[0]?.split('=') ?? []
  return { name, value }
}

/** Gives an instance a year of the prices of another, and customers. */
async function produce(server: Wellhead, from: Wellhead): Promise<void> {
  for (const code of producedCodes) {
    const answer = await fetch(
      `http://127.0.0.1:${from.port}/v1/prices/chart?code=${code}&interval=day`,
      { headers: { authorization: `Token ${from.apiKey}` } },
    )
    const { data } = (await answer.json()) as { data: { times: number[]; close: number[] } }
    await operator(server, '/admin/v1/observations', {
      observations: data.times.map((time, i) => ({
        code,
        observed_at: new Date(time * 1000).toISOString(),
        price: data.close[i],
      })),
    })
  }
  for (const plan of ['free', 'starter', 'professional', 'scale'])
    await operator(server, '/admin/v1/accounts', { email: `desk@${plan}.example`, plan })
  await operator(server, '/admin/v1/subscriptions', {
    account: 'desk@professional.example',
    plan: 'professional',
    billing_period: 'monthly',
    price: 9900,
  })
}

async function shoot(
  browser: Browser,
  server: Wellhead,
  account: string | undefined,
  kind: string,
  paths: readonly string[],
) {
  if (!kinds.split(',').includes(kind)) return
  const session = account === undefined ? undefined : await sessionOf(server, account)
  const origin = `http://127.0.0.1:${server.port}`
  for (const { scheme, width, columns, pageHeight } of looks) {
    const context = await browser.newContext({
      viewport: { width, height: 900 },
      colorScheme: scheme,
      reducedMotion: 'reduce',
    })
    if (session)
      await context.addCookies([{ ...session, url: origin, httpOnly: true, sameSite: 'Lax' }])
    await context.addInitScript(`sessionStorage.setItem('operator', '${server.adminToken}')`)
    const page = await context.newPage()
    const taken: { path: string; file: string; picture: Buffer }[] = []
    for (const path of paths) {
      await page.goto(`${origin}${path}`)
      await page.waitForSelector(settled, { timeout: 30_000 }).catch(() => {
        console.log(`${kind} ${path} still loads something`)
      })
      await page.waitForTimeout(400)
      const over = await page.evaluate<number>(
        'document.documentElement.scrollWidth - window.innerWidth',
      )
      if (over > 0) console.log(`${kind} ${path} is ${over} px too wide at ${width} px`)
      const name =
        path.replace('?operation=', '-').replace(/\?.*/, '').replaceAll('/', '-').slice(1) ||
        'start'
      const file = `${kind}-${scheme}-${width}-${name}.png`
      const height = await page.evaluate<number>('document.documentElement.scrollHeight')
      const picture = await page.screenshot({
        fullPage: true,
        clip: { x: 0, y: 0, width, height: Math.min(height, pageHeight) },
      })
      writeFileSync(join(out, file), picture)
      taken.push({ path, file, picture })
    }
    await context.close()
    await sheets(browser, `${kind}-${scheme}-${width}`, taken, perSheet[width], columns, width)
  }
}

/** The pictures of the documentation, as a window shows them. */
async function shootKept(browser: Browser, server: Wellhead, account: string) {
  const origin = `http://127.0.0.1:${server.port}`
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    colorScheme: 'light',
    reducedMotion: 'reduce',
  })
  const session = await sessionOf(server, account)
  await context.addCookies([{ ...session, url: origin, httpOnly: true, sameSite: 'Lax' }])
  const page = await context.newPage()
  for (const [name, path] of Object.entries(kept)) {
    await page.goto(`${origin}${path}`)
    await page.waitForSelector(settled, { timeout: 30_000 })
    await page.waitForTimeout(400)
    await page.screenshot({ path: join(keptDirectory, `${name}.png`) })
  }
  await context.close()
}

/** Many pictures on one. */
async function sheets(
  browser: Browser,
  name: string,
  taken: readonly { path: string; picture: Buffer }[],
  each: number,
  columns: number,
  width: number,
) {
  const sheet: Page = await browser.newPage({ viewport: { width: 2000, height: 800 } })
  const cell = Math.min(width, Math.floor(1980 / columns) - 8)
  for (let i = 0; i < taken.length; i += each) {
    const cells = taken
      .slice(i, i + each)
      .map(
        ({ path, picture }) =>
          `<figure><figcaption>${path}</figcaption><img width="${cell}" src="data:image/png;base64,${picture.toString('base64')}"></figure>`,
      )
    await sheet.setContent(
      `<style>body{margin:4px;display:grid;grid-template-columns:repeat(${columns},${cell}px);gap:8px;align-items:start;background:#888;font:12px monospace}figure{margin:0}</style>${cells.join('')}`,
    )
    await sheet.screenshot({ path: join(out, `sheet-${name}-${i / each}.png`), fullPage: true })
  }
  await sheet.close()
}

mkdirSync(out, { recursive: true })
const dir = mkdtempSync(join(tmpdir(), 'wellhead-screenshots-'))
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking'],
})
const wanted = (paths: readonly string[]) =>
  paths.filter(path => only.split(',').some(part => path.includes(part)))
try {
  mkdirSync(join(dir, 'dev'))
  const evaluation = await serveWellhead(join(dir, 'dev'), 'dev', 'built')
  try {
    await pauseFeed(evaluation)
    const account = '00000000-0000-4000-8000-000000000001'
    const paths = [...pages, ...desk]
    if (isKept) await shootKept(browser, evaluation, account)
    else await shoot(browser, evaluation, account, 'full', wanted(paths))
    if (!isKept) {
      mkdirSync(join(dir, 'serve'))
      const served = await serveWellhead(join(dir, 'serve'), 'serve', 'built')
      try {
        const { data } = await operator(served, '/admin/v1/accounts', { email, plan: 'enterprise' })
        await shoot(browser, served, data.account.id, 'empty', wanted(pages))
        await produce(served, evaluation)
        await shoot(browser, served, data.account.id, 'production', wanted(pages))
        await shoot(browser, served, undefined, 'visitor', wanted(pagesOf.anyone))
      } finally {
        await served.stop()
      }
    }
  } finally {
    await evaluation.stop()
  }
} finally {
  await browser.close()
  rmSync(dir, { recursive: true, force: true })
}
console.log(`The pictures are in ${out}.`)
