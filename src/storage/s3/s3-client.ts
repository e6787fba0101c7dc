import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { LookupFunction } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { limited } from '../bounded-answer';
import type { PatienceSettings } from '../patience';

export interface S3Connection {
  region: string;
  /** AWS's own where it is absent. */
  endpoint?: string;
  credentials?: S3ClientConfig['credentials'];
  forcePathStyle: boolean;
  useAccelerateEndpoint?: boolean;
  /** Name resolution that judges addresses; the system's where it is absent. */
  lookup?: LookupFunction;
  maxSockets: number;
  patience: PatienceSettings;
}

const ignore = (): void => undefined;
/**
 * A logger without output. Without one the client writes to the console at each failure of a stream; failures are logged
 * where they are handled.
 */
const SILENT = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };

/** A client that stores of all makers understand. */
export function connectS3({ patience, lookup, maxSockets, ...connection }: S3Connection): S3Client {
  const client = new S3Client({
    ...connection,
    logger: SILENT,
    // The SDK's default checksums are trailers that Google's and older stores refuse; Content-MD5 goes with every upload.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: patience.maxAttempts,
    requestHandler: requestHandler(patience, { keepAlive: true, maxSockets, ...(lookup && { lookup }) }),
  });
  limitAnswers(client);
  return client;
}

/** The client holds every answer but the bytes of an object as a whole, whatever its length is. */
function limitAnswers({ middlewareStack }: S3Client): void {
  middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const result = await next(args);
        const response = result.response as { statusCode: number; body: Readable };
        const isObject = commandName === 'GetObjectCommand' && response.statusCode < 300;
        if (!isObject) response.body = pipeline(response.body, limited(), () => undefined);
        return result;
      },
    // Nearer to the connection than what reads the answer.
    { step: 'deserialize', priority: 'low', name: 'limitAnswers' },
  );
}

export function requestHandler(
  patience: PatienceSettings,
  agentOptions: object,
): NonNullable<S3ClientConfig['requestHandler']> {
  return {
    connectionTimeout: patience.connectionTimeout,
    requestTimeout: patience.answerTimeout,
    throwOnRequestTimeout: true,
    socketTimeout: patience.pieceTimeout ?? patience.answerTimeout,
    httpAgent: new HttpAgent(agentOptions),
    httpsAgent: new HttpsAgent(agentOptions),
  };
}
