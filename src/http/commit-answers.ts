/** How far replicas have the commits of this instance; empty without replication. */
export interface ReplicatedCommits {
  /**
   * Whether replicas have the write. False after a timeout: the write is not acknowledged. Absent:
   * writes do not wait.
   */
  acknowledged?: (() => Promise<boolean>) | undefined
  /**
   * Whether replicas know that the request was charged to its quota; undefined: they do. False
   * after a timeout: the request is refused. Absent: there are no replicas.
   */
  charged?: ((request: Request) => Promise<boolean> | undefined) | undefined
  /**
   * The last change committed here, which the response to a write names. Absent without
   * replication.
   */
  sequence?: (() => number) | undefined
  /** The prefix of the service's own headers. */
  headerPrefix?: string
}

/**
 * The header in which the response to a write names its change. A replica that receives it with a
 * read answers when it has that change.
 */
export const sequenceHeader = (prefix = '') => `${prefix}Sequence`

type Answer = Response | Promise<Response>

/** Holds responses back until replicas have what they acknowledge. */
export function createCommitAnswers(
  { acknowledged, charged, sequence, headerPrefix }: ReplicatedCommits,
  refuse: (request: Request, why: string) => Response,
) {
  const afterCharge = (request: Request, response: Response): Answer => {
    const charge = charged?.(request)
    if (!charge || !response?.ok) return response
    return charge.then(isCharged => {
      if (isCharged) return response
      // The body is never read, and an open stream would stay counted.
      void response.body?.cancel()
      return refuse(
        request,
        'The charge to the quota is not replicated yet. Send the request again.',
      )
    })
  }
  const afterCommit = async (request: Request, answered: Answer): Promise<Response> => {
    const response = await answered
    if (!response?.ok) return response
    if (acknowledged && !(await acknowledged()))
      return refuse(
        request,
        'The write is stored on this server and not replicated yet, so it is not acknowledged. Check whether it was made before you send it again.',
      )
    if (sequence) response.headers.set(sequenceHeader(headerPrefix), String(sequence()))
    return response
  }
  return {
    /** The response to a write, once replicas have it. */
    afterWrite: (request: Request, answered: Answer): Answer =>
      sequence || acknowledged ? afterCommit(request, answered) : answered,
    /** The response to a request that counts, once replicas know that it does. */
    onceCharged(request: Request, answered: Answer): Answer {
      if (!charged) return answered
      return answered instanceof Promise
        ? answered.then(response => afterCharge(request, response))
        : afterCharge(request, answered)
    },
  }
}
