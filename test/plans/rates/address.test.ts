import { expect, test } from 'bun:test'
import { addressGroup } from '../../../src/plans/rates/address.ts'

const table: [string, string][] = [
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:cb00:7107', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::', '2001:db8:1:3::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['', 'unknown'],
  ['unknown', 'unknown'],
  ['203.0.113.7:8080', 'unknown'],
  ['203.0.113.300', 'unknown'],
  ['example.com', 'unknown'],
]
test.each(table)('%s belongs to %s', (ip, group) => {
  expect(addressGroup(ip)).toBe(group)
})
