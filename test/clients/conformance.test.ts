import { afterAll, beforeAll, expect } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Wellhead } from '../../clients/testkit/src/testkit.ts'
import { runProgram, sharedInstance } from '../support/interface/packages.ts'
import { needs } from '../support/needs.ts'
import { moduleFolder } from '../support/requirements.ts'

const suite = '@modelcontextprotocol/conformance'
const directory = mkdtempSync(join(tmpdir(), 'wellhead-conformance-'))
let instance: Wellhead
let proxy: ReturnType<typeof Bun.serve>

beforeAll(async () => {
  if (!needs('test:full', suite).isMet) return
  instance = await sharedInstance()
  // The suite sends no credentials: this adds the key, replaces the names of fixtures, and passes
  // everything else on.
  proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const headers = new Headers(request.headers)
      headers.set('authorization', `Bearer ${instance.apiKey}`)
      headers.delete('content-length')
      const { method } = request
      const body = method === 'POST' ? { body: withCounterparts(await request.text()) } : {}
      return await fetch(instance.url + pathname, { method, headers, ...body, decompress: false })
    },
  })
}, 600_000)
afterAll(async () => {
  await proxy?.stop(true)
  rmSync(directory, { recursive: true, force: true })
})

/** The fixtures of the suite that the product has under other names. */
const counterparts: readonly [string, string][] = [
  [
    '"test_prompt_with_arguments","arguments":{"arg1":"testValue1","arg2":"testValue2"}',
    '"morning_brief","arguments":{"codes":"testValue1,testValue2"}',
  ],
  ['"test_prompt_with_arguments"', '"explain_move"'],
  ['"name":"arg1"', '"name":"code"'],
  ['"test_simple_prompt"', '"morning_brief"'],
  ['"test_simple_text"', '"search_codes","arguments":{"text":"brent"}'],
  ['"test_error_handling"', '"latest_prices"'],
  ['"test://static-text"', '"wellhead://catalogue"'],
]
const withCounterparts = (body: string): string =>
  counterparts.reduce((text, [fixture, own]) => text.replaceAll(fixture, own), body)

/**
 * What the suite requests by names that a server has for the suite alone: its own tools, prompts
 * and resources, which a product does not have. A scenario that passes must not be listed.
 */
const fixturesOnly = [
  ...['image', 'audio', 'embedded-resource', 'mixed-content', 'with-logging']
    .concat('with-progress', 'sampling', 'elicitation')
    .map(name => `tools-call-${name}`),
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
  'resources-read-binary',
  'resources-templates-read',
  // Several streams of one session; there are none.
  'server-sse-multiple-streams',
  // A subscription to test://watched-resource; without sessions there are none to real resources.
  'resources-subscribe',
  'resources-unsubscribe',
  ...['embedded-resource', 'with-image'].map(name => `prompts-get-${name}`),
]

needs('test:full', suite).test(
  'the conformance suite of the protocol passes in every scenario that needs no fixtures',
  async () => {
    const baseline = join(directory, 'expected-failures.yml')
    writeFileSync(baseline, `server:\n${fixturesOnly.map(name => `  - ${name}\n`).join('')}`)
    const program = join(moduleFolder(suite)!, 'dist/index.js')
    const address = `http://127.0.0.1:${proxy.port}/mcp`
    const { code, text } = await runProgram(
      [process.execPath, program, 'server', '--url', address, '--expected-failures', baseline],
      directory,
    )
    expect(code, text).toBe(0)
    for (const scenario of [
      'server-initialize',
      'logging-set-level',
      'ping',
      'tools-list',
      'resources-list',
      'prompts-list',
      'completion-complete',
      'resources-read-text',
      'prompts-get-simple',
      'prompts-get-with-args',
      'tools-call-simple-text',
      'tools-call-error',
      'dns-rebinding-protection',
    ])
      expect(text).toMatch(new RegExp(`✓ ${scenario}: [1-9]\\d* passed, 0 failed`))
  },
  120_000,
)
