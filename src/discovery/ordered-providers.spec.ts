import { Injectable, Module } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { orderedProviders } from './ordered-providers';

const Listens = DiscoveryService.createDecorator<number>();

@Injectable()
@Listens(2)
class Second {}

@Injectable()
@Listens(1)
class First {}

@Injectable()
class Other {}

@Module({ providers: [Second, Other] })
class OneModule {}

@Module({ providers: [First, Second] })
class AnotherModule {}

describe('orderedProviders', () => {
  it('finds the providers of all modules that carry the decorator, each class once, in order', async () => {
    const app = await Test.createTestingModule({ imports: [DiscoveryModule, OneModule, AnotherModule] }).compile();
    const found = orderedProviders(app.get(DiscoveryService), Listens);
    expect(found.map((each) => (each as object).constructor)).toEqual([First, Second]);
    await app.close();
  });
});
