import { t } from '../../../http/answer/schema.ts'
import { textParameter } from '../../../http/input/typed.ts'
import { markFixtures } from '../../../http/operations/answer.ts'
import type { Context } from '../../../http/operations/context.ts'
import { operation } from '../../../http/operations/operation.ts'
import { Problem } from '../../../http/problem/problem.ts'
import { NestedProblem } from '../../../http/problem/shape.ts'
import { heatPrices } from '../../units/math/heat-price.ts'
import { noPlace } from './access.ts'

const protocol = 'actioncable-v1-json'

/** Where a WebSocket to the stream of prices begins. */
export function cableOperations(deps: Context) {
  const { gate, cable, streams, catalogue, connections, marks } = deps

  const headersOf = (request: Request): Record<string, string> => {
    const set = { headers: {} as Record<string, string> }
    const offered = request.headers
      .get('sec-websocket-protocol')
      ?.split(',')
      .map(channel => channel.trim())
    if (offered?.includes(protocol)) set.headers['sec-websocket-protocol'] = protocol
    const series = heatPrices.flatMap(heatPrice => catalogue.named(heatPrice.code) ?? [])
    markFixtures(
      set,
      marks,
      series.map(priceSeries => ({ series: priceSeries })),
    )
    return set.headers
  }

  return [
    operation('GET /cable', {
      operationId: 'openCable',
      summary: 'Stream prices',
      description: description(deps.config.brand.streamChannels, streams.perKey),
      access: { meter: false, feature: 'streaming', parameter: 'token' },
      query: {
        token: textParameter(
          'The API key, where no Authorization header can be sent.',
          '<API_KEY>',
        ),
      },
      answers: {
        101: t.Void({ description: 'The connection is a WebSocket.' }),
        426: NestedProblem,
        503: NestedProblem,
      },
      handle: ({ request, caller, requestContext }) => {
        if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket') throw notSocket()
        const stays = gate.stay(requestContext!)
        const connection = cable.connect({
          accountId: caller.key.account.account.id,
          keyId: caller.key.key.id,
          refusal: () => stays()?.code.toLowerCase(),
        })
        if (typeof connection === 'string') throw noPlace(connection, streams)
        if (!connections.upgrade(request, connection, headersOf(request))) {
          connection.closed()
          throw notSocket()
        }
        // The connection is a socket by now, so this response is never sent.
        return new Response(null, { status: 101 })
      },
    }),
  ]
}

const notSocket = () =>
  new Problem(
    'UPGRADE_REQUIRED',
    'This path accepts WebSocket connections only: connect with ws:// or wss://.',
    {},
    { headers: { upgrade: 'websocket', connection: 'Upgrade' } },
  )

const description = (
  channels: readonly string[],
  perKey: number,
) => `Opens a WebSocket (RFC 6455); every frame is JSON text. No subprotocol is needed; \`${protocol}\` is echoed if the client offers it. A key has up to ${perKey} connections; opening one counts as one request in the 60-second window and not against the quota.

**From the server.** \`{"type":"welcome"}\` first, \`{"type":"ping","message":<Unix seconds>}\` every 3 s, which needs no answer.

**Subscribing.** \`{"command":"subscribe","identifier":"{\\"channel\\":\\"${channels[0]}\\"}"}\`: the identifier is JSON as text, with \`channel\` (${channels.map(channel => `\`${channel}\``).join(', ')}), \`commodities\` (up to 100 codes or aliases; absent: ${heatPrices.map(heatPrice => `\`${heatPrice.code}\``).join(', ')}) and \`api_key\` (of the same account). Up to 20 subscriptions.

The response repeats the identifier as it was sent: \`{"identifier","type":"confirm_subscription"}\` or \`"reject_subscription"\`. \`unsubscribe\` takes the same identifier. Other frames are ignored; frames over 16 KB end the connection.

**Messages** are \`{"identifier","message"}\`.

- Right after the confirmation: \`{"type":"welcome","data":{timestamp, base_currency, base_unit, prices, drilling_intelligence?, error?}, timestamp, base_currency, base_unit, prices}\`.
- When a subscribed price changes, at most once a second for a connection: \`{"type":"price_update", timestamp, base_currency, base_unit, prices, updated, price_rows}\`: \`updated\` names the codes, \`price_rows\` has \`{code, price, currency, unit, created_at}\` of each.
- With \`energy_intelligence\` also: \`{"type":"rig_count_update", timestamp, rig_count:{code, region, count, source, updated_at}}\`.

\`prices\` is \`{oil:{brent, wti}, natural_gas:{uk, us, eu}}\`, each \`{normalized_price, original_price, original_unit, original_currency, timestamp, change_24h, change_24h_percent}\` or null, normalised to USD per MMBtu: a barrel is 5.8 MMBtu, a MWh 3.412142, ten therms are one; gas of the UK and the EU is returned per MMBtu in its own currency.

**The end.** \`{"type":"disconnect","reason","reconnect"}\` and a close code: 1008 when the key was revoked, rolled, suspended or lost the feature, 1012 when the service restarts, 1013 when the client reads more slowly than is sent.`
