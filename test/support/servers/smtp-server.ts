import { type AddressInfo, createServer, type Socket } from 'node:net'

/**
 * The server's reply to a command; undefined: as a server that takes the mail. Nothing is answered
 * to `silence`, and `cut` ends the connection.
 */
export type Answers = (
  command: string,
  connection: number,
) => string | 'silence' | 'cut' | undefined

export interface Accepted {
  from: string
  to: string[]
  /** The message as it came, dots unstuffed. */
  raw: string
}

export interface SmtpServer {
  url: string
  accepted: Accepted[]
  commands: string[]
  connections: number
  close(): void
}

/**
 * A mail server that speaks the least of SMTP (RFC 5321) on loopback. A message is taken when its
 * last line has come, whatever is answered to it.
 */
export async function smtpServer(
  answers: Answers = () => undefined,
  port = 0,
): Promise<SmtpServer> {
  const state = { accepted: [] as Accepted[], commands: [] as string[], connections: 0 }
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    state.connections += 1
    serve(socket, state, answers, state.connections)
  })
  await new Promise<void>(done => server.listen(port, '127.0.0.1', done))
  return Object.assign(state, {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  })
}

function serve(
  socket: Socket,
  state: { accepted: Accepted[]; commands: string[] },
  answers: Answers,
  connection: number,
): void {
  let text = ''
  let inData = false
  let mail: Accepted = { from: '', to: [], raw: '' }
  const say = (command: string, usual: string) => {
    const answer = answers(command, connection) ?? usual
    if (answer === 'cut') socket.destroy()
    else if (answer !== 'silence') socket.write(`${answer}\r\n`)
    return answer === usual
  }
  const command = (line: string) => {
    state.commands.push(line)
    const verb = line.slice(0, 4).toUpperCase()
    const address = /<([^>]*)>/.exec(line)?.[1] ?? ''
    if (verb === 'EHLO') say(line, '250-mail.example.com\r\n250-AUTH PLAIN\r\n250 SMTPUTF8')
    else if (verb === 'AUTH') say(line, '235 2.7.0 fine')
    else if (verb === 'MAIL') {
      if (say(line, '250 2.1.0 fine')) mail = { from: address, to: [], raw: '' }
    } else if (verb === 'RCPT') {
      if (say(line, '250 2.1.5 fine')) mail.to.push(address)
    } else if (verb === 'DATA') inData = say(line, '354 go on')
    else say(line, verb === 'QUIT' ? '221 2.0.0 bye' : '250 2.0.0 fine')
  }
  socket.on('error', () => {})
  say('greeting', '220 mail.example.com ESMTP')
  socket.on('data', bytes => {
    text += bytes.toString('latin1')
    for (;;) {
      const end = inData ? text.indexOf('\r\n.\r\n') : text.indexOf('\r\n')
      if (end < 0) return
      const part = text.slice(0, end)
      text = text.slice(end + (inData ? 5 : 2))
      if (!inData) command(part)
      else {
        inData = false
        state.accepted.push({ ...mail, raw: part.replace(/^\.\./gm, '.') })
        say('.', '250 2.0.0 taken')
      }
    }
  })
}

/** Header fields of a message, folded lines joined. */
export function fields(raw: string): [name: string, value: string][] {
  const head = raw.slice(0, raw.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ')
  return head
    .split('\r\n')
    .map(line => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 2),
    ])
}

/** The bytes of the parts that are attached, in order. */
export function attachments(raw: string): Buffer[] {
  const parts = raw
    .split(/\r\n--[^\r\n]+/)
    .filter(part => /content-disposition: attachment/i.test(part))
  return parts.map(part =>
    Buffer.from(part.slice(part.indexOf('\r\n\r\n')).replace(/\s/g, ''), 'base64'),
  )
}
