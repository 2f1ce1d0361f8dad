import { isIP } from 'node:net'
import { connect } from 'node:tls'

const timeoutMs = 10_000
const httpsPort = 443

/** When the certificate ends that an https address shows (Unix ms); rejects where it shows none. */
export function certificateEnd(url: string): Promise<number> {
  const { hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve, reject) => {
    // Also that of a certificate which no one trusts any more.
    const socket = connect(
      {
        host,
        port: Number(port) || httpsPort,
        timeout: timeoutMs,
        rejectUnauthorized: false,
        ...(isIP(host) === 0 && { servername: host }),
      },
      () => {
        const endsAt = Date.parse(socket.getPeerCertificate().valid_to)
        socket.destroy()
        if (Number.isNaN(endsAt)) reject(new Error('it presents no certificate'))
        else resolve(endsAt)
      },
    )
    socket.on('timeout', () => socket.destroy(new Error('it does not respond')))
    socket.on('error', reject)
  })
}
