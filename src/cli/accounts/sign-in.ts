import type { CommandEnvironment } from '../command.ts'

/** Sets the password of an account and ends all its sessions. */
export const setPassword = async (
  env: CommandEnvironment,
  who: string,
  readPassword: () => Promise<string>,
): Promise<void> => {
  const path = `${await env.accountPath(who)}/password`
  const lines = ({ email }: { email: string }) => [
    `The password of ${email} is set; all sessions were ended.`,
  ]
  await env.show(lines, 'POST', path, { password: await readPassword() })
}

/** Makes a link that signs in to an account once and prints it, this once. */
export const makeLink = async (env: CommandEnvironment, who: string): Promise<void> => {
  const lines = ({ sign_in_url, expires_at }: { sign_in_url: string; expires_at: string }) => [
    sign_in_url,
    `Valid once, until ${expires_at}.`,
  ]
  await env.show(lines, 'POST', `${await env.accountPath(who)}/link`)
}

/** Removes something of an account and prints a sentence about its user. */
const removing =
  (what: string, sentence: (email: string) => string) =>
  async (env: CommandEnvironment, who: string): Promise<void> => {
    const lines = ({ email }: { email: string }) => [sentence(email)]
    await env.show(lines, 'DELETE', `${await env.accountPath(who)}/${what}`)
  }

export const endSessions = removing(
  'sessions',
  email => `All sessions of ${email} were ended; its API keys keep working.`,
)

/** Turns two-factor authentication off for a user who has lost authenticator and recovery codes. */
export const removeTwoFactor = removing(
  'second-factor',
  email =>
    `Signing in to ${email} asks for no code any more; everybody who was signed in is signed out.`,
)

/**
 * Reads the first line of a stream. Secrets come by standard input, because arguments appear in the
 * process list and in the history of the shell.
 */
export async function firstLine(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes('\n')) break
  }
  return text.split(/\r?\n/, 1)[0]!
}
