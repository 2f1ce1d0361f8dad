import { describe, expect, test } from 'bun:test'
import { passwordFault, passwordForm } from '../../src/plans/password.ts'

const email = 'maria.lopez@example.com'

describe('passwordFault', () => {
  test.each([
    ['nine characters', 'kUh!7wLq9', /at least 10/],
    ['201 characters', `${'abcDEF1290'.repeat(20)}x`, /at most 200/],
    ['ten times the same', 'aaaaaaaaaa', /different/],
    ['a common beginning with an ending', 'password12', /easy to guess/],
    ['a row of digits', '1234567890', /easy to guess/],
    ['the address', email, /easy to guess/],
    ['the name of the address with a year', 'maria.lopez2024', /easy to guess/],
    ['characters that look like many and are few', '🎉🎉🎉🎉🎉🎉🎉🎉🎉', /at least 10/],
  ])('of %s is refused with the reason', (_, password, why) => {
    expect(passwordFault(password, email)).toMatch(why)
  })

  test.each(['correct horse battery', 'kUh!7wLq9z', 'пароль-на-море', 'abcDEF1290'.repeat(20)])(
    '%p will do',
    password => {
      expect(passwordFault(password, email)).toBeUndefined()
    },
  )

  test('a password is the same in whichever Unicode form its characters are composed', () => {
    expect(passwordForm('Ame\u0301lie-au-lait')).toBe(passwordForm('Am\u00e9lie-au-lait'))
  })
})
