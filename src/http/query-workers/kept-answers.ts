import { after } from '../../lib/time/clock.ts'
import { secondMs } from '../../lib/time/instant.ts'
import type { QueryWorkerOutcome, QueryWorkerPool } from './pool.ts'
import type { QueryWorkerCaller, QueryWorkerRequest } from './terms.ts'

type Question = Omit<QueryWorkerRequest, 'id'>

/** Bytes of bodies that are kept for one moment; what comes beyond them is asked anew. */
const bytesMax = 16 * 2 ** 20

/**
 * Readers that are asked the same question once a moment: while nothing was committed and the
 * second is the same, whoever asks it again gets the answer that stands, or waits for the one that
 * is being made. `version` is another one after every commit, by whichever connection. A second of
 * real time later the bodies are released, because the next question may come in an hour.
 */
export function withKeptAnswers(
  pool: QueryWorkerPool,
  version: () => number,
  later: typeof after = after,
): QueryWorkerPool {
  const answers = new Map<string, Promise<QueryWorkerOutcome>>()
  let moment = ''
  let bytes = 0
  let endRelease = () => {}

  const release = () => {
    endRelease()
    moment = ''
    answers.clear()
    bytes = 0
  }

  const startMoment = (now: number) => {
    const next = `${version()} ${Math.floor(now / secondMs)}`
    if (next === moment) return
    release()
    moment = next
    endRelease = later(secondMs, release)
  }

  /** Asks the readers; what comes is kept unless it is good for one asker only. */
  const askAnew = (key: string, account: string, question: Question) => {
    const answer = pool.ask(account, question)
    answers.set(key, answer)
    void answer.then(outcome => {
      if (answers.get(key) !== answer) return
      if (isShared(outcome)) bytes += outcome.body.byteLength
      if (!isShared(outcome) || bytes > bytesMax) answers.delete(key)
    })
    return answer
  }

  return {
    ...pool,
    async ask(account, question) {
      startMoment(question.now)
      const key = keyOf(question)
      const kept = answers.get(key)
      if (!kept) return await askAnew(key, account, question)
      const outcome = await kept
      return isShared(outcome) ? outcome : await pool.ask(account, question)
    },
    stop() {
      release()
      pool.stop()
    },
  }
}

/** An answer that is whole and says what the data says; a refusal for want of time says neither. */
const isShared = (
  outcome: QueryWorkerOutcome,
): outcome is Extract<QueryWorkerOutcome, { kind: 'answer' }> =>
  outcome.kind === 'answer' && !outcome.goesOn && outcome.status < 500

/** Everything that an answer may depend on, the moment aside. */
const keyOf = ({ url, method, headers, body, caller }: Question): string =>
  JSON.stringify([method, url, headers, body, caller && identityOf(caller)])

/** Of a key its id is enough: the rest of it was judged by the gate. */
const identityOf = ({ key, account, holder, role, entitled, session }: QueryWorkerCaller) => [
  key.id,
  account,
  holder.id,
  role,
  entitled,
  session?.id,
]
