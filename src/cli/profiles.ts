import type { Config } from '../config/config.ts'
import { wrongValue } from '../lib/text/wrong-value.ts'
import {
  type ClientProfile,
  isSeen,
  recognised,
  type Scope,
  type Sign,
  type TextOf,
} from '../plans/clients/client-profile.ts'
import { shippedClientProfiles, shippedProfiles } from '../plans/clients/shipped-profiles.ts'
import { switchEffects } from '../plans/clients/switches.ts'

type Print = (line: string) => void

/** `User-Agent: prices-go/1.2` as a name and its text. */
function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':')
  if (colon < 1) throw new Error(wrongValue('--header', "of the form 'Name: text'", line))
  return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]
}

/** The paths of a scope as people write them. */
const pathsText = ({ only, except }: Scope): string => {
  const written = (pattern: RegExp) =>
    pattern.source
      .slice(1, -1)
      .replaceAll('\\/', '/')
      .replaceAll('[^/]+', ':id')
      .replace(/\.\*$/, '*')
  const paths = [...only.map(written), ...except.map(pattern => `!${written(pattern)}`)]
  return paths.length === 0 ? '' : ` (${paths.join(', ')})`
}

const signText = ({ of, pattern }: Sign, textOf: TextOf): string =>
  pattern === undefined ? `no ${of}` : `${of} = ${textOf(of)}`

/** Prints why the profile applies and its changes to responses. */
function printProfile({ signs, switches }: ClientProfile, textOf: TextOf, print: Print): void {
  const seen = signs.filter(sign => sign.weight > 0 && isSeen(sign, textOf))
  print(`  recognized by ${seen.map(sign => signText(sign, textOf)).join(', ')}`)
  for (const [name, scope] of switches)
    print(`  ${name}${pathsText(scope)}: ${switchEffects[name]}`)
}

/** Prints the profile of a GET with these headers, the reason, and its changes. */
export function explainProfile(
  lines: readonly string[],
  config: Config,
  print: Print,
  json = false,
): void {
  const headers = new Map(lines.map(headerOf))
  const textOf: TextOf = of => (of === 'method' ? 'GET' : (headers.get(of) ?? null))
  const chosen = recognised(config.clientProfiles, textOf)
  if (json) {
    const switches = [...(chosen?.switches ?? [])].map(([name, scope]) => ({
      name,
      scope: pathsText(scope).trim(),
      effect: switchEffects[name],
    }))
    print(JSON.stringify({ profile: chosen?.name ?? null, switches }, null, 2))
    return
  }
  if (chosen) {
    print(`${chosen.name} applies, in dev and in serve:`)
    printProfile(chosen, textOf, print)
    return
  }
  print('No configured profile matches: this client gets the documented responses.')
  const shipped = recognised(shippedClientProfiles(), textOf)
  if (!shipped) return
  print(`With client_profiles = ["shipped"], ${shipped.name} would apply:`)
  printProfile(shipped, textOf, print)
}

/** A switch with its paths, as `client_profiles` has it. */
const entriesOf = (switches: (typeof shippedProfiles)[number]['switches']): string[] =>
  Object.entries(switches).map(([name, paths]) => [name, ...paths].join(' '))

/** Shows the profiles that come with the program, whom they are for and why. */
export function listShippedProfiles(print: Print, json = false): void {
  if (json) {
    const profiles = shippedProfiles.map(({ name, recognised, why, switches }) => ({
      name,
      recognised,
      why,
      switches: entriesOf(switches),
    }))
    print(JSON.stringify(profiles, null, 2))
    return
  }
  for (const { name, recognised, why, switches } of shippedProfiles) {
    print(`${name}: ${recognised}`)
    print(`  because ${why}`)
    print(`  ${entriesOf(switches).join(', ')}`)
  }
}
