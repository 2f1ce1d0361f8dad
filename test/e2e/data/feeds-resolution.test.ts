import { afterAll, expect } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { dayMs, isoDay, parseDay } from '../../../src/lib/time/instant.ts'
import { launchBrowser, openVisitor } from '../../support/console/browser.ts'
import { remove, run, start, temporaryDir } from '../../support/instance/binary.ts'
import { needs } from '../../support/needs.ts'
import { standIn } from '../../support/publishers/stand-in.ts'

const dir = temporaryDir()
const publishers = await standIn()
afterAll(async () => {
  await publishers.stop()
  remove(dir)
})

needs('chromium').test(
  'a publisher that goes to shorter periods is reported by the command, doctor, the console and the log',
  async () => {
    const today = parseDay(isoDay(Date.now()))!
    const [since, change] = [isoDay(today - 5 * dayMs), isoDay(today - 2 * dayMs)]
    publishers.today = isoDay(today - dayMs)
    const config = join(dir, 'feeds.toml')
    writeFileSync(
      config,
      `[egress]\nallow = ["127.0.0.1/32"]\n[feeds.elexon]\nbase_url = "${publishers.url}"\nsince = "${since}"\ncodes = ["POWER_HH_GB_GBP"]\nlicense = "accept"\n`,
    )
    const server = await start('serve', join(dir, 'serving'), '--config', config)
    const log = new Response(server.process.stdout as ReadableStream).text()
    const errors = new Response(server.process.stderr as ReadableStream).text()
    const at = ['--data', join(dir, 'serving/data'), '--config', config]
    const browser = await launchBrowser()
    try {
      const first = await run('feeds', 'run', 'elexon', '--since', since, ...at)
      expect({ code: first.code, err: first.err }).toEqual({ code: 0, err: '' })
      publishers.quarters = { from: parseDay(change)! }
      const message = `POWER_HH_GB_GBP comes in periods of 15 minutes from ${change} on`
      const second = await run('feeds', 'run', 'elexon', '--since', since, ...at)
      expect({ code: second.code, err: second.err }).toEqual({
        code: 0,
        err: `feeds run: ${message}\n`,
      })
      const examined = await run('doctor', ...at)
      expect(examined.out).toContain(`elexon: ${message}`)
      expect(examined.out).toContain('inform customers who count periods')
      const { page, goTo } = await openVisitor(browser, server.url)
      await goTo('/operator')
      await page.fill('input[name=token]', server.adminToken)
      await page.keyboard.press('Enter')
      await page.waitForSelector('h2:text-is("Service")')
      await goTo('/operator/feeds')
      await page
        .locator('section[aria-labelledby=feeds] tr:has(.code:text-is("elexon"))')
        .locator(`text=${message}`)
        .waitFor()
    } finally {
      await browser.close()
      await server.stop()
    }
    const events = `${await log}${await errors}`
      .split('\n')
      .filter(line => /feed_changed/.test(line))
    expect(events).toHaveLength(1)
    expect(events[0]).toContain('resolution_changed')
  },
  180_000,
)
