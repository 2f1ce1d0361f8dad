import {
  accountPath,
  answerOf,
  type CommandEnvironment,
  print,
  runAgainstServer,
} from '../command.ts'

/** Sets the password of an account and ends all its sessions. */
export const setPassword = (
  env: CommandEnvironment,
  who: string,
  readPassword: () => Promise<string>,
): Promise<number> =>
  runAgainstServer(env, 'accounts password', async () => {
    const path = await accountPath(env, who)
    const body = await answerOf<{ email: string }>(env, 'POST', `${path}/password`, {
      password: await readPassword(),
    })
    print(env, body, ({ email }) => [`The password of ${email} is set; all sessions were ended.`])
  })

/** Makes a link that signs in to an account once and prints it, this once. */
export const makeLink = (env: CommandEnvironment, who: string): Promise<number> =>
  runAgainstServer(env, 'accounts link', async () => {
    const body = await answerOf<{ sign_in_url: string; expires_at: string }>(
      env,
      'POST',
      `${await accountPath(env, who)}/link`,
    )
    print(env, body, ({ sign_in_url, expires_at }) => [
      sign_in_url,
      `Valid once, until ${expires_at}.`,
    ])
  })

/** Ends all sessions of an account. */
export const endSessions = (env: CommandEnvironment, who: string): Promise<number> =>
  runAgainstServer(env, 'accounts sign-out', async () => {
    const ended = await answerOf<{ email: string }>(
      env,
      'DELETE',
      `${await accountPath(env, who)}/sessions`,
    )
    print(env, ended, ({ email }) => [
      `All sessions of ${email} were ended; its API keys keep working.`,
    ])
  })

/** Turns two-factor authentication off for a user who has lost authenticator and recovery codes. */
export const removeTwoFactor = (env: CommandEnvironment, who: string): Promise<number> =>
  runAgainstServer(env, 'accounts second-step-off', async () => {
    const removed = await answerOf<{ email: string }>(
      env,
      'DELETE',
      `${await accountPath(env, who)}/second-factor`,
    )
    print(env, removed, ({ email }) => [
      `Signing in to ${email} asks for no code any more; everybody who was signed in is signed out.`,
    ])
  })

/**
 * The first line of a stream: a secret belongs neither into the list of processes nor into the
 * history of a shell.
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
