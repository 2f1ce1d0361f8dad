import type { Config } from '../config/config.ts'
import type { ClientProfile } from '../plans/client-profile.ts'
import { shippedClientProfiles, shippedProfiles } from '../plans/shipped-profiles.ts'
import { switchEffects } from '../plans/switches.ts'

type Print = (line: string) => void

/** `User-Agent: prices-go/1.2` as a name and its text. */
function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':')
  if (colon < 1) throw new Error(`--header: ${line} must be of the form 'Name: text'`)
  return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]
}

const fits = ({ match }: ClientProfile, headers: ReadonlyMap<string, string>): boolean =>
  match.every(({ header, pattern }) => pattern.test(headers.get(header) ?? ''))

function printSwitches({ switches }: ClientProfile, print: Print): void {
  for (const name of switches) print(`  ${name}: ${switchEffects[name]}`)
}

/** Says which profile a client with these headers gets, and what it switches. */
export function explainProfile(lines: readonly string[], config: Config, print: Print): void {
  const headers = new Map(lines.map(headerOf))
  const chosen = config.clientProfiles.find(profile => fits(profile, headers))
  if (chosen) {
    print(`${chosen.name} applies:`)
    printSwitches(chosen, print)
    return
  }
  print('No configured profile matches: this client gets the documented responses.')
  const shipped = shippedClientProfiles().find(profile => fits(profile, headers))
  if (!shipped) return
  print(`With client_profiles = ["shipped"], ${shipped.name} would apply:`)
  printSwitches(shipped, print)
}

/** Shows the profiles that come with the program, whom they are for and why. */
export function listShippedProfiles(print: Print, json = false): void {
  if (json) {
    const profiles = shippedProfiles.map(({ name, recognised, why, switches }) => ({
      name,
      recognised,
      why,
      switches,
    }))
    print(JSON.stringify(profiles, null, 2))
    return
  }
  for (const { name, recognised, why, switches } of shippedProfiles) {
    print(`${name}: ${recognised}`)
    print(`  because ${why}`)
    print(`  ${switches.join(', ')}`)
  }
}
