/**
 * The remedy where a server's certificate is from an authority that this machine does not trust, as a
 * company's own often is; undefined for other faults. `reason` has the code or the sentence of TLS.
 */
export const certificateAdvice = (reason: string): string | undefined =>
  /SELF_SIGNED_CERT|UNABLE_TO_(?:GET|VERIFY)_|self[- ]signed cert|unable to (?:get|verify) /i.test(
    reason,
  )
    ? 'set the environment variable NODE_EXTRA_CA_CERTS to the file of its certificate authority, and restart'
    : undefined

/** A reason with its remedy, if it is about such a certificate. */
export function withCertificateAdvice(reason: string): string {
  const advice = certificateAdvice(reason)
  return advice === undefined ? reason : `${reason}: ${advice}`
}
