import type { CommandEnvironment } from '../command.ts'

/** Sets the password of an account and ends all its sessions. */
export const setPassword = async (
  env: CommandEnvironment,
  who: string,
  readPassword: () => Promise<string>,
): Promise<void> => {
  const path = await env.accountPath(who)
  const body = await env.answer<{ email: string }>('POST', `${path}/password`, {
    password: await readPassword(),
  })
  env.print(body, ({ email }) => [`The password of ${email} is set; all sessions were ended.`])
}

/** Makes a link that signs in to an account once and prints it, this once. */
export const makeLink = async (env: CommandEnvironment, who: string): Promise<void> => {
  const body = await env.answer<{ sign_in_url: string; expires_at: string }>(
    'POST',
    `${await env.accountPath(who)}/link`,
  )
  env.print(body, ({ sign_in_url, expires_at }) => [
    sign_in_url,
    `Valid once, until ${expires_at}.`,
  ])
}

/** Ends all sessions of an account. */
export const endSessions = async (env: CommandEnvironment, who: string): Promise<void> => {
  const ended = await env.answer<{ email: string }>(
    'DELETE',
    `${await env.accountPath(who)}/sessions`,
  )
  env.print(ended, ({ email }) => [
    `All sessions of ${email} were ended; its API keys keep working.`,
  ])
}

/** Turns two-factor authentication off for a user who has lost authenticator and recovery codes. */
export const removeTwoFactor = async (env: CommandEnvironment, who: string): Promise<void> => {
  const removed = await env.answer<{ email: string }>(
    'DELETE',
    `${await env.accountPath(who)}/second-factor`,
  )
  env.print(removed, ({ email }) => [
    `Signing in to ${email} asks for no code any more; everybody who was signed in is signed out.`,
  ])
}

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
