import { expect, test } from 'bun:test'
import { explainProfile, listShippedProfiles } from '../../../src/cli/profiles.ts'
import { loadConfig } from '../../../src/config/config.ts'

const configOf = (toml: string | undefined) =>
  loadConfig({ flags: {}, env: {}, files: { directory: '/' }, readFile: () => toml })

function explained(headers: string[], toml?: string): string {
  const lines: string[] = []
  explainProfile(headers, configOf(toml), line => void lines.push(line))
  return lines.join('\n')
}

test('the profile explanation names the profile of a client and what it switches on', () => {
  const text = explained(['User-Agent: prices-go/1.2'], 'client_profiles = ["shipped"]')
  expect(text).toStartWith('shipped-go applies, in dev and in serve:')
  expect(text).toContain('recognized by user-agent = prices-go/1.2')
  expect(text).toContain('omit_null: every success: null fields')
})

test('the profile explanation names the shipped profile that would match when none is configured', () => {
  const text = explained(['User-Agent: prices-php'], 'client_profiles = []')
  expect(text).toStartWith('No configured profile matches')
  expect(text).toContain('With client_profiles = ["shipped"], shipped-php would apply')
  expect(explained(['User-Agent: curl/8'])).toStartWith('shipped-everybody applies')
})

test('a profile matches only if all its headers match, and a header without a name is refused', () => {
  const toml = `[[client_profiles]]
name = "desk"
match = { User-Agent = '^desk/', X-Platform = 'sheet' }
switches = ["latest_list"]`
  expect(explained(['User-Agent: desk/1', 'X-Platform: Sheets'], toml)).toStartWith('desk applies')
  expect(explained(['User-Agent: desk/1'], toml)).toStartWith('No configured profile matches')
  expect(() => explained(['desk/1'])).toThrow("must be of the form 'Name: text'")
})

test('the profile list contains every shipped profile', () => {
  const lines: string[] = []
  listShippedProfiles(line => void lines.push(line))
  expect(lines.filter(line => line.startsWith('shipped-'))).toHaveLength(8)
})
