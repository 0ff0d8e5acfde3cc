"""A grammar of everyday Korean with its English: it writes data/ko-en/*.tsv.

    python data/ko_en_grammar.py

English is a function of the Korean, so every sentence has one right answer:

  bare noun             what the lexicon says: a cake, bread, the window
  이, 그, 내, 우리 + noun  this, the, my, our
  noun after a clause   the:  민수가 산 빵, the bread that Minsu bought
  -ㄴ다, -아요           habit: reads every day;  -고 있다: is reading
  order                 what, to whom, with whom, by what, where, when

The sets: train, valid and test are drawn alike; in `new`, a verb and an object
meet that never met in training, though each is known from other sentences."""

import os
import random
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "ko-en"
SIZES = {"train": 24_000, "valid": 1_000, "test": 1_000, "new": 500}
SEED = 7
DRAWS = 100_000  # what is left of them after `common` fills the sets
RARE = 28  # a word form this rare leaves, with its sentences
HELD_OUT = 60  # pairs of verb and object that only `new` has
LEARNT = 90  # so often the first draws say its verb, and its object
EACH = 15  # of each pair there are so many sentences, or more
KNOWN = 10  # what valid, test and new use stands so often in train

# --- Lexicon --------------------------------------------------------------

# Korean noun, English of the bare noun, counter.
NOUNS = """
fruit: 사과 an apple 개; 바나나 a banana 개; 딸기 strawberries;
    포도 grapes; 수박 a watermelon 개; 귤 a tangerine 개; 배 a pear 개
bakery: 빵 bread; 케이크 cake 조각; 과자 cookies; 떡 rice cakes;
    샌드위치 a sandwich 개; 피자 pizza 조각
dish: 라면 ramen 그릇; 국수 noodles 그릇; 김밥 gimbap; 비빔밥 bibimbap 그릇;
    만두 dumplings; 떡볶이 tteokbokki; 불고기 bulgogi
side: 김치 kimchi; 치즈 cheese; 아이스크림 ice cream; 초콜릿 chocolate
grill: 고기 meat; 생선 fish
meal: 아침 breakfast; 점심 lunch; 저녁 dinner
hot: 커피 coffee 잔; 녹차 green tea 잔; 홍차 black tea 잔
cold: 물 water 병; 우유 milk 병; 주스 juice 병; 콜라 cola 병
book: 책 a book 권; 소설 a novel 권; 만화책 a comic book 권; 잡지 a magazine 권
paper: 신문 a newspaper; 편지 a letter 통; 시 a poem
text: 이메일 an email 통; 보고서 a report; 일기 a diary
skirt: 치마 a skirt 벌; 원피스 a dress 벌
wear: 코트 a coat 벌; 셔츠 a shirt 벌; 스웨터 a sweater 벌;
    바지 pants; 청바지 jeans; 한복 a hanbok 벌
feet: 신발 shoes 켤레; 구두 dress shoes 켤레; 양말 socks 켤레;
    운동화 sneakers 켤레
head: 모자 a hat 개; 안경 glasses
hand: 장갑 gloves 켤레
carry: 가방 a bag 개; 우산 an umbrella 개; 지갑 a wallet 개
lost: 열쇠 a key 개; 휴대폰 a phone 대; 표 a ticket 장
device: 카메라 a camera 대; 컴퓨터 a computer 대; 시계 a clock 개
bike: 자전거 a bicycle 대
furniture: 의자 a chair 개; 책상 a desk 개; 침대 a bed 개
toy: 인형 a doll 개; 공 a ball 개
stationery: 연필 a pencil 자루; 공책 a notebook 권
gift: 선물 a present 개; 꽃 a flower 송이
photo: 사진 a photo 장
box: 상자 a box 개
opening: 창문 the window; 문 the door; 서랍 the drawer
switch: 불 the light; 텔레비전 the TV; 라디오 the radio;
    에어컨 the air conditioner
room: 방 the room; 부엌 the kitchen; 화장실 the bathroom; 교실 the classroom;
    거실 the living room
surface: 식탁 the table; 거울 the mirror
dishes: 접시 a plate 개; 컵 a cup 개
screen: 영화 a movie 편; 드라마 a drama; 연극 a play
news: 뉴스 the news
music: 음악 music; 노래 a song 곡
instrument: 피아노 the piano; 기타 the guitar; 바이올린 the violin
racket: 테니스 tennis; 탁구 table tennis
ballgame: 축구 soccer; 농구 basketball; 야구 baseball
language: 영어 English; 한국어 Korean; 중국어 Chinese; 일본어 Japanese
subject: 수학 math; 역사 history; 과학 science
craft: 태권도 taekwondo; 수영 swimming
scene: 그림 a picture 장; 나무 a tree 그루; 산 a mountain; 바다 the sea
pet: 고양이 a cat 마리; 개 a dog 마리; 토끼 a rabbit 마리; 새 a bird 마리
fishing: 물고기 a fish 마리
crop: 감자 potatoes; 토마토 tomatoes; 장미 roses
ride: 버스 the bus; 지하철 the subway; 택시 a taxi; 기차 the train
flight: 비행기 a plane
building: 집 a house 채; 다리 a bridge; 건물 a building
trash: 쓰레기 trash
sheet: 종이 paper
room_to_book: 호텔 a hotel
learnt: 단어 a word 개; 이름 a name
seen: 별 stars; 달 the moon
season: 봄 spring; 여름 summer; 가을 fall; 겨울 winter
person: 친구 a friend 명; 의사 a doctor 명; 경찰 a police officer 명;
    학생 a student 명; 손님 a guest 명; 기자 a reporter 명; 가수 a singer 명;
    요리사 a cook 명; 간호사 a nurse 명; 배우 an actor 명; 화가 a painter 명;
    사람 a person 명; 아이 a child 명; 남자 a man 명; 여자 a woman 명
"""

# Counters that name an English measure; the others only ask for a plural.
MEASURES = {
    "잔": "cup",
    "병": "bottle",
    "켤레": "pair",
    "조각": "piece",
    "그릇": "bowl",
}
NUMBERS = {
    "한": "one",
    "두": "two",
    "세": "three",
    "네": "four",
    "다섯": "five",
    "열": "ten",
}

# Place, where something happens, where somebody goes.
PLACES = """
집 at home, home; 학교 at school, to school; 회사 at the office, to work;
공원 in the park; 도서관 at the library; 시장 at the market;
식당 at the restaurant; 카페 at the cafe; 서점 at the bookstore;
백화점 at the department store; 병원 at the hospital; 극장 at the theater;
교실 in the classroom; 부엌 in the kitchen; 거실 in the living room;
방 in the room; 마당 in the yard; 정원 in the garden;
운동장 on the playground; 체육관 at the gym; 수영장 at the swimming pool;
바다 at the beach; 산 in the mountains, to the mountains; 강 in the river;
서울 in Seoul; 부산 in Busan; 제주도 on Jeju Island, to Jeju Island;
빵집 at the bakery; 꽃집 at the flower shop; 박물관 at the museum;
편의점 at the convenience store; 동물원 at the zoo; 미술관 at the art museum;
우체국 at the post office; 은행 at the bank; 공항 at the airport;
역 at the station; 버스 on the bus; 지하철 on the subway; 기차 on the train;
문구점 at the stationery store; 약국 at the pharmacy
"""

# Verb, English, objects (classes or nouns), places, and what goes with it:
#   daily, weekly: a habit; now: -고 있다; night: at night; dark: only then
#   span: last year; long: only such times; part: no time of day
#   past: neither willed nor planned, so of the past; chore: nobody's wish
#   brief: a moment's work, so not that of a Monday or a week
#   skill: something one can; with: with a friend; where: always a place
#   what, whom: a question may ask for the object
#   few: a number of them; and: two of them; own: 이, 그, 내; adj: a quality
#   many, the: the bare object is apples, is the mirror
#   young: not of elders; adult: not of children; her: of women
VERBS = """
먹다 eat | fruit bakery dish side grill | 집 식당 공원 |
    daily now night with what few and adj
먹다 eat | meal | 집 식당 학교 회사 카페 | daily now with part
마시다 drink | cold | 집 카페 공원 식당 | daily now night with few and
마시다 drink | hot | 집 카페 공원 회사 | daily now night with few and adult
읽다 read | book paper | 집 도서관 카페 공원 방 지하철 버스 기차 |
    daily now night what few own adj
쓰다 write | 편지 시 text 소설 | 집 도서관 카페 방 | weekly now night adj
사다 buy | fruit bakery side grill cold hot |
    시장 편의점 | weekly what few and adj many
사다 buy | wear skirt feet head hand carry device furniture | 백화점 시장 |
    span what few adj
사다 buy | book 공책 연필 | 서점 | span what few adj
사다 buy | 선물 bike toy |  | span few adj
사다 buy | 꽃 | 꽃집 시장 | weekly few adj many
팔다 sell | 딸기 포도 grill crop 신발 양말 바지 | 시장 | daily now what adult
팔다 sell | bike device furniture |  | span adult
만들다 make | bakery dish 김치 | 집 부엌 | weekly now night what and adj
만들다 make | 인형 furniture wear skirt |  | span adj
굽다 bake | 빵 케이크 과자 피자 | 집 부엌 | weekly now night
굽다 grill | grill | 집 식당 마당 | weekly now
끓이다 boil | 물 라면 국수 | 집 부엌 | daily now night
주문하다 order | dish | 식당 | weekly what few and
주문하다 order | bakery hot | 카페 | weekly what few and
보다 watch | 영화 드라마 | 집 | weekly now night with what own
보다 watch | news | 집 | weekly now night with
보다 watch | 영화 연극 | 극장 | weekly with what own
보다 see | 별 달 |  | night dark
듣다 listen to | music | 집 방 카페 버스 지하철 공원 |
    daily now night with own
듣다 listen to | 라디오 뉴스 | 집 방 버스 지하철 공원 |
    daily now night with
부르다 sing | 노래 | 집 학교 공원 | daily now with adj
치다 play | 피아노 기타 | 집 방 학교 | daily now skill
치다 play | racket | 공원 체육관 | weekly now with skill
하다 play | ballgame | 운동장 공원 학교 | weekly now with skill young
켜다 turn on | switch 컴퓨터 | 교실 | night the chore brief
끄다 turn off | switch 컴퓨터 | 교실 | night the chore brief
열다 open | opening | 교실 | daily chore brief
닫다 close | opening | 교실 | daily chore brief
찍다 take | photo | 공원 바다 마당 박물관 | weekly now few many
그리다 draw | scene pet 꽃 | 공원 미술관 교실 집 | weekly now night few adj
배우다 learn | language instrument craft racket | 학교 | span now weekly what
가르치다 teach | language subject instrument craft | 학교 |
    span now weekly what adult
공부하다 study | language subject | 집 학교 도서관 카페 |
    daily now night with what
입다 wear | wear |  | weekly now adj own
입다 wear | skirt |  | weekly now adj own her
신다 wear | feet |  | weekly now adj own
쓰다 wear | head |  | weekly now adj own
끼다 wear | hand |  | weekly now adj own
빌리다 borrow | book | 도서관 학교 | span few
빌리다 borrow | 우산 카메라 자전거 컴퓨터 |  | span
잃어버리다 lose | carry lost head hand | 공원 지하철 버스 시장 학교 | own past
찾다 find | carry lost head 카메라 공 | 방 집 교실 | own past
씻다 wash | fruit dishes | 집 부엌 | now night few many
빨다 wash | 셔츠 스웨터 바지 청바지 신발 양말 운동화 | 집 | weekly now own
청소하다 clean | room | | weekly now night
닦다 wipe | surface 창문 책상 |  | weekly now night the chore
고치다 fix | device bike furniture 문 | 집 | span now own adult
기다리다 wait for | 버스 지하철 택시 기차 친구 손님 | 역 | now
만나다 meet | 친구 의사 가수 기자 배우 화가 | 공원 카페 식당 역 학교 서울 |
    span whom few
돕다 help | 친구 손님 아이 학생 | 학교 시장 도서관 | span whom few
키우다 raise | pet | 집 마당 | span now few long
심다 plant | 나무 꽃 crop | 정원 마당 학교 | span now few many
짓다 build | building | 서울 부산 제주도 | span now adj long adult young
타다 take | ride |  | daily night
타다 take | flight |  | night
타다 ride | bike | 공원 서울 | weekly now skill
받다 receive | gift 편지 이메일 표 | 학교 회사 집 | few past
잡다 catch | 물고기 | 강 | now few many
준비하다 prepare | meal | 집 부엌 | daily now part
예약하다 reserve | 호텔 표 |  | span adult
버리다 throw away | trash 신문 box 의자 우산 신발 양말 |  | own chore
옮기다 move | 침대 | 방 | now few own
옮기다 move | 의자 책상 box | 집 교실 | now few own
자르다 cut | 빵 케이크 떡 피자 수박 고기 | 부엌 집 | now
자르다 cut | 종이 | 교실 집 | now
고르다 choose | gift book wear feet screen |  | what own chore
줍다 pick up | trash | 공원 운동장 역 | weekly past
줍다 pick up | 공 표 지갑 우산 | 공원 운동장 역 | past
외우다 memorize | 단어 이름 | 집 학교 버스 | daily now night few many
외우다 memorize | 시 노래 | 집 학교 버스 | daily now night few
"""

# Verbs without an object; a third column may hold a companion's particle.
ACTS = """
자다 sleep | 집 방 버스 지하철 기차 | now night where past
쉬다 rest | 집 공원 방 | daily now night with
운동하다 exercise | 체육관 공원 집 | daily now with
산책하다 take a walk | 공원 바다 | daily now night with
수영하다 swim | 수영장 바다 강 | weekly now with skill
일하다 work | 회사 시장 식당 은행 병원 공항 서점 | daily now with night adult
놀다 play | 운동장 공원 집 마당 | daily now with young where
걷다 walk | 공원 운동장 | daily now with where
달리다 run | 공원 운동장 | daily now with young where
울다 cry | 집 방 학교 | now young past
웃다 laugh | 집 교실 카페 | now past
살다 live | 서울 부산 제주도 | now with span long
요리하다 cook | 집 부엌 식당 | daily now with skill
춤추다 dance | 공원 체육관 학교 | weekly now with skill young where
여행하다 travel around | 부산 서울 제주도 | span part
이야기하다 talk | 카페 공원 집 학교 | daily now with whom
"""

MOVES = """
가다 go | 학교 회사 집 공원 도서관 시장 식당 카페 서점 백화점 병원 극장 바다 산
    서울 부산 제주도 박물관 동물원 미술관 우체국 은행 수영장 체육관 빵집 꽃집
    강 운동장 역 편의점 문구점 약국
오다 come | 학교 회사 집 공원 도서관 시장 식당 카페 서울 부산 제주도 체육관
걸어가다 walk | 학교 회사 집 공원 도서관 시장 서점 은행 역
돌아가다 go back | 학교 회사 집 서울 부산 제주도 | young
뛰어가다 run | 학교 집 역 병원 공원 | young past
"""
VEHICLES = {
    "버스": "by bus",
    "지하철": "by subway",
    "택시": "by taxi",
    "기차": "by train",
    "자전거": "by bicycle",
    "비행기": "by plane",
}

# To give: verb, English, objects.  드리다 stands in for 주다 to an elder.
GIFTS = """
주다 give | gift book fruit bakery hot cold carry toy stationery photo
보내다 send | gift 편지 시 이메일 photo book
보여주다 show | photo 그림 편지 표 book 시계
빌려주다 lend | book 우산 카메라 자전거 공책 연필
"""

# What one does something with: verb, tool = objects.
TOOLS = """
먹다 젓가락 chopsticks = 라면 국수 만두 떡볶이;
먹다 포크 a fork = 케이크 떡볶이;
쓰다 연필 a pencil = 편지 시 일기; 쓰다 펜 a pen = 편지 시 일기;
쓰다 컴퓨터 a computer = 이메일 보고서 소설; 자르다 가위 scissors = 종이;
자르다 칼 a knife = 빵 케이크 수박 고기; 찍다 휴대폰 a phone = 사진;
찍다 카메라 a camera = 사진; 그리다 연필 a pencil = 그림 나무 꽃 고양이 개;
그리다 펜 a pen = 그림 나무 꽃; 씻다 물 water = 사과 딸기 포도 접시 컵;
씻다 비누 soap = 접시 컵
"""

# Adjective, English, nouns it is said of.  passing: may be of the past.
ADJECTIVES = """
맛있다 delicious | fruit bakery dish side grill | passing
맵다 spicy | 김치 라면 떡볶이 | passing
달다 sweet | fruit 케이크 초콜릿 | passing
뜨겁다 hot | hot 라면 국수 | passing
차갑다 cold | 물 우유 주스 | passing
재미있다 interesting | book screen | passing
지루하다 boring | book screen | passing
슬프다 sad | screen 소설 노래 | passing
어렵다 difficult | language subject 책 | passing
쉽다 easy | language subject 책 | passing
예쁘다 pretty | 꽃 wear skirt 모자 구두 가방 인형 컵
비싸다 expensive | wear skirt feet carry device bike furniture 모자 | passing
싸다 cheap | wear skirt feet carry furniture fruit 모자 | passing
무겁다 heavy | 가방 furniture box 카메라 | passing
가볍다 light | 가방 운동화 카메라 자전거 | passing
크다 big | building box 가방 수박 나무 우산
작다 small | box 가방 집 컵 인형
빨갛다 red | wear skirt 모자 가방 우산 꽃 운동화 장갑 | colour
하얗다 white | wear skirt 모자 꽃 운동화 장갑 | colour
파랗다 blue | wear skirt 모자 가방 우산 운동화 | colour
까맣다 black | wear skirt 모자 가방 우산 구두 장갑 | colour
깨끗하다 clean | room wear skirt 접시 컵 운동화 | passing
더럽다 dirty | room 운동화 양말 창문 컵 | passing
아름답다 beautiful | 산 바다 노래 장미
따뜻하다 warm | 코트 스웨터 장갑
길다 long | 다리 치마 소설 영화 편지
짧다 short | 치마 바지 시 편지
귀엽다 cute | pet 인형
"""
FEELINGS = "바쁘다 busy; 피곤하다 tired; 행복하다 happy; 아프다 sick"
# What comes of it: 지영이 만든 케이크는 맛있었다.
RESULTS = """
만들다 = 맛있다 맵다 예쁘다 따뜻하다 귀엽다; 굽다 = 맛있다;
사다 = 맛있다 달다 비싸다 싸다 무겁다 가볍다 빨갛다 하얗다 파랗다 까맣다
    재미있다 짧다 예쁘다 따뜻하다; 주문하다 = 맛있다 뜨겁다 맵다;
쓰다 = 길다 짧다 재미있다 지루하다 슬프다; 빌리다 = 재미있다 지루하다 슬프다;
그리다 = 예쁘다 귀엽다 아름답다; 보다 = 재미있다 지루하다 슬프다
"""
# Two that pull apart: 비싸지만 예쁘다.
CONTRASTS = """
비싸다 예쁘다 = wear skirt 모자 구두 가방;
비싸다 맛있다 = fruit 케이크 피자 고기;
싸다 맛있다 = fruit 라면 국수 김밥; 맵다 맛있다 = 김치 라면 떡볶이;
어렵다 재미있다 = language subject 책; 무겁다 예쁘다 = 가방;
작다 예쁘다 = 집 가방 컵 인형; 길다 재미있다 = 소설 영화 드라마;
작다 무겁다 = 상자 가방; 슬프다 아름답다 = 노래 영화; 작다 비싸다 = 카메라 가방
"""

# Korean, English, pronoun; who is called by a word of kin is mine.
NAME = """
민수 Minsu he; 지영 Jiyeong she; 수진 Sujin she; 준호 Junho he;
서연 Seoyeon she; 현우 Hyeonu he; 은지 Eunji she; 도윤 Doyun he
"""
OTHER = """
그 he he; 그녀 she she; 누나 my older sister she; 형 my older brother he;
여동생 my younger sister she; 남동생 my younger brother he;
삼촌 my uncle he; 이모 my aunt she; 아이들 the children they;
학생들 the students they
"""
ELDERS = """
할머니 my grandmother she; 할아버지 my grandfather he;
어머니 my mother she; 아버지 my father he; 선생님 the teacher teacher
"""

# Korean, English, what the time allows, and what the verb must allow.
TIMES = """
past: 어제 yesterday; 그저께 the day before yesterday; 오늘 today;
    지난주에 last week; 오늘 아침에 this morning @part; 주말에 on the weekend;
    월요일에 on Monday; 화요일에 on Tuesday; 수요일에 on Wednesday;
    목요일에 on Thursday; 금요일에 on Friday; 토요일에 on Saturday;
    일요일에 on Sunday; 아침에 in the morning @part;
    저녁에 in the evening @part; 오후에 in the afternoon @part;
    세 시에 at three o'clock @part; 밤에 at night @night;
    어젯밤에 last night @night; 작년에 last year @span;
    지난달에 last month @span; 봄에 in spring @span; 여름에 in summer @span
future: 내일 tomorrow; 모레 the day after tomorrow; 오늘 today;
    다음 주에 next week; 내일 아침에 tomorrow morning @part;
    주말에 on the weekend; 월요일에 on Monday; 화요일에 on Tuesday;
    수요일에 on Wednesday; 목요일에 on Thursday; 금요일에 on Friday;
    토요일에 on Saturday; 일요일에 on Sunday; 저녁에 in the evening @part;
    오후에 in the afternoon @part; 세 시에 at three o'clock @part;
    오늘 밤에 tonight @night; 내년에 next year @span;
    다음 달에 next month @span; 가을에 in fall @span; 겨울에 in winter @span
habit: 매일 every day @daily; 매일 아침 every morning @daily @part;
    매일 저녁 every evening @daily @part; 주말마다 every weekend @weekly;
    일요일마다 every Sunday @weekly; 토요일마다 every Saturday @weekly;
    자주 often @weekly; 가끔 sometimes @weekly; 항상 always @daily;
    보통 usually @daily
now: 지금 now
then: 그때 then
state: 오늘 today; 요즘 these days; 지금 now
request: 지금 now; 오늘 today; 내일 tomorrow
after: 매일 every day; 자주 often; 보통 usually
"""
BEFORE_VERB = {"often", "sometimes", "always", "usually"}

LOCATIONS = """
책상 위 on the desk = book device 연필 공책 열쇠 안경 편지 컵 휴대폰;
식탁 위 on the table = fruit bakery cold dishes 꽃;
의자 밑 under the chair = 고양이 개 토끼 공 가방 상자;
침대 밑 under the bed = toy 고양이 개 토끼 양말 상자;
가방 안 in the bag = book 지갑 열쇠 휴대폰 우산 카메라 연필;
상자 안 in the box = toy 사진 편지 fruit feet 장갑;
냉장고 안 in the refrigerator = cold fruit side grill 케이크;
나무 밑 under the tree = pet 의자 자전거 공;
문 앞 in front of the door = 상자 자전거 개 우산 신발;
서랍 안 in the drawer = 양말 장갑 열쇠 사진 안경 시계
"""
OWNED = "bike device 고양이 개 토끼 우산 열쇠 표 휴대폰 코트 모자 책 공책"
LIKED = (
    "fruit bakery dish side grill hot 우유 주스 콜라 book screen music "
    "ballgame racket language subject craft pet crop 꽃 시 season"
)
JOBS = "의사 경찰 학생 기자 가수 요리사 간호사 배우 화가"

# State, English (not: the Korean word says no by itself), then what it leads
# to; 못 marks what it hinders.
STATES = """
배가 고프다 be hungry | 먹다 dish bakery fruit, 사다 빵 샌드위치, 끓이다 라면,
    가다 식당, 만들다 샌드위치 김밥
목이 마르다 be thirsty | 마시다 cold, 사다 cold
피곤하다 be tired | 자다, 쉬다, 타다 택시, 마시다 커피, 못 운동하다,
    못 청소하다 방 부엌, 못 요리하다
아프다 be sick | 가다 병원, 쉬다, 자다, 못 가다 학교 회사, 못 일하다,
    못 만나다 친구, 못 먹다 meal
졸리다 be sleepy | 마시다 커피 홍차, 자다, 못 읽다 책 소설, 못 보다 영화
심심하다 be bored | 보다 screen, 읽다 만화책 잡지 소설, 듣다 음악,
    그리다 그림 고양이, 치다 기타 피아노, 가다 극장
바쁘다 be busy | 못 먹다 meal, 못 가다 극장 공원, 못 만나다 친구, 못 쉬다,
    못 청소하다 방 부엌, 못 보다 영화 뉴스, 못 읽다 신문
시간이 없다 not have time | 타다 택시, 못 먹다 meal, 못 보다 영화 뉴스,
    못 만나다 친구, 못 읽다 책 신문, 못 운동하다
돈이 없다 not have money | 못 사다 코트 카메라 구두 자전거 컴퓨터 가방 시계,
    못 가다 제주도 부산, 걸어가다 집, 팔다 자전거 카메라
시간이 있다 have time | 만나다 친구, 보다 screen, 읽다 book, 가다 극장 미술관,
    만들다 케이크 만두, 운동하다
돈이 있다 have money | 사다 코트 카메라 구두 자전거 컴퓨터 가방,
    가다 제주도 부산, 타다 택시
기분이 좋다 be happy | 부르다 노래, 춤추다, 웃다, 사다 꽃, 듣다 음악
기분이 나쁘다 be upset | 울다, 걷다, 듣다 음악, 먹다 초콜릿 아이스크림
춥다 be cold | 입다 코트 스웨터, 끼다 장갑, 마시다 hot, 닫다 창문 문
덥다 be hot | 열다 창문 문, 켜다 에어컨, 먹다 수박 아이스크림, 마시다 cold,
    가다 수영장 바다, 수영하다
"""
WEATHER = """
비 오다 it rain | 쉬다 집, 타다 택시 버스, 보다 영화 드라마, 닫다 창문,
    읽다 책 소설, 못 산책하다, 못 가다 공원 산 바다, 못 하다 축구 야구
눈 오다 it snow | 찍다 사진, 타다 지하철, 마시다 hot, 못 가다 회사 학교 산,
    못 타다 bike
날씨 좋다 the weather be good | 산책하다, 가다 공원 바다 산, 찍다 사진,
    타다 자전거, 걷다, 심다 꽃 나무, 열다 창문, 청소하다 집 방
날씨 춥다 the weather be cold | 입다 코트 스웨터, 마시다 hot, 끓이다 물 라면,
    쉬다 집, 못 수영하다, 못 산책하다
날씨 덥다 the weather be hot | 먹다 수박 아이스크림, 마시다 cold,
    가다 수영장 바다, 켜다 에어컨, 못 운동하다, 못 달리다
바람 불다 it be windy | 닫다 창문 문, 입다 코트, 못 타다 자전거,
    못 치다 테니스
"""
# Done side by side, one after the other, or in order to.
WHILE = """
듣다 음악 라디오 뉴스 = 운동하다, 공부하다 language subject, 청소하다 room,
    걷다, 요리하다, 산책하다, 그리다 그림, 달리다;
마시다 hot = 읽다 book 신문, 보다 영화 드라마 news, 쓰다 편지 이메일,
    이야기하다, 쉬다, 공부하다 language;
보다 드라마 뉴스 = 먹다 meal 라면 과자;
부르다 노래 = 청소하다 room, 걷다, 요리하다, 씻다 접시, 치다 기타 피아노
"""
SEQUENCE = """
읽다 책 소설 = 자다, 쓰다 일기 편지;
먹다 meal = 산책하다, 마시다 hot, 씻다 접시, 보다 뉴스 드라마;
운동하다 = 마시다 물 우유, 먹다 meal;
청소하다 방 부엌 거실 = 마시다 hot, 만들다 샌드위치, 듣다 음악;
일하다 = 만나다 친구, 보다 영화, 먹다 저녁;
공부하다 language subject = 자다, 치다 racket, 하다 ballgame, 보다 영화;
만나다 친구 = 보다 영화 연극, 마시다 hot, 먹다 meal;
쓰다 일기 편지 = 자다, 듣다 음악;
수영하다 = 먹다 dish, 마시다 cold;
보다 영화 = 먹다 저녁, 마시다 hot, 자다
"""
ERRANDS = """
서점 = 사다 book, 만나다 친구; 시장 = 사다 fruit grill, 팔다 fruit;
백화점 = 사다 wear skirt feet carry 모자 장갑, 고르다 gift; 빵집 = 사다 bakery;
꽃집 = 사다 꽃; 도서관 = 빌리다 book, 공부하다 language subject, 읽다 책 신문;
카페 = 마시다 hot, 만나다 친구; 공원 = 산책하다, 타다 자전거, 찍다 사진, 놀다;
식당 = 먹다 dish meal; 극장 = 보다 영화 연극; 체육관 = 운동하다, 치다 racket;
수영장 = 수영하다; 강 = 잡다 물고기; 운동장 = 하다 ballgame;
학교 = 배우다 태권도;
역 = 만나다 친구; 편의점 = 사다 cold 우산; 문구점 = 사다 공책 연필
"""
REQUEST = """
열다 = opening; 닫다 = opening; 켜다 = switch 컴퓨터; 끄다 = switch 컴퓨터;
읽다 = book 편지 시; 보내다 = 편지 시 이메일 photo; 씻다 = fruit dishes;
주다 = gift book 꽃; 보여주다 = photo 그림 편지 표; 청소하다 = room;
옮기다 = furniture box; 고치다 = device bike furniture; 닦다 = surface 창문;
빌려주다 = book 우산 자전거; 외우다 = 단어 시; 고르다 = book 영화
"""
# What was done to a thing before: he ate the bread that she made.
HISTORY = """
먹다 = 만들다 사다 굽다 주문하다; 마시다 = 사다 주문하다;
읽다 = 쓰다 사다 빌리다 고르다; 입다 = 만들다 사다; 신다 = 사다 고르다;
팔다 = 만들다; 잃어버리다 = 사다 빌리다; 찾다 = 잃어버리다;
고치다 = 사다 빌리다; 씻다 = 사다; 빨다 = 사다; 옮기다 = 사다 만들다;
듣다 = 부르다; 외우다 = 쓰다; 자르다 = 굽다 사다; 버리다 = 사다;
보내다 = 찍다 쓰다; 보여주다 = 찍다 그리다 쓰다; 주다 = 만들다 사다 굽다
"""

# --- Korean morphology ----------------------------------------------------

IRREGULAR = {
    "ㄷ": "듣다 걷다 묻다",
    "ㅂ": "굽다 돕다 줍다 춥다 덥다 맵다 뜨겁다 차갑다 어렵다 쉽다 무겁다 "
    "가볍다 더럽다 시끄럽다 아름답다 귀엽다",
    "ㅅ": "짓다",
    "르": "부르다 자르다 고르다 모르다 마르다",
    "ㅎ": "빨갛다 하얗다 파랗다 까맣다",
}
CLASS = {
    verb: kind for kind, all_ in IRREGULAR.items() for verb in all_.split()
}
# What an elder does has verbs of its own.
HONORIFIC = {
    "먹다": "드시",
    "마시다": "드시",
    "자다": "주무시",
    "있다": "계시",
}
VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
FINALS = ["", *"ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"]


def parts(syllable):
    "The numbers of the initial consonant, the vowel and the final (0: none)."
    rest, last = divmod(ord(syllable) - ord("가"), 28)
    return *divmod(rest, 21), last


def final(word):
    return FINALS[parts(word[-1])[2]]


def vowel(word):
    return VOWELS[parts(word[-1])[1]]


def change(word, vowel=None, final=None):
    "The word with another vowel or final consonant in its last syllable."
    first, middle, last = parts(word[-1])
    if vowel is not None:
        middle = VOWELS.index(vowel)
    if final is not None:
        last = FINALS.index(final)
    return word[:-1] + chr(ord("가") + (first * 21 + middle) * 28 + last)


PARTICLES = {
    "은": ("은", "는"),
    "이": ("이", "가"),
    "을": ("을", "를"),
    "과": ("과", "와"),
    "으로": ("으로", "로"),
}


def particle(word, which):
    "The word with the particle's form after a consonant or after a vowel."
    after_consonant, after_vowel = PARTICLES.get(which, (which, which))
    # ㄹ counts as a vowel before 으로: 서울로, 지하철로.
    vowel_like = ("", "ㄹ") if which == "으로" else ("",)
    return word + (
        after_vowel if final(word) in vowel_like else after_consonant
    )


@dataclass(frozen=True)
class Stem:
    "What endings follow: 먹, 예쁘.  kind: an irregular class, 있, past or 시."

    text: str
    kind: str = ""
    adjective: bool = False

    def infinitive(self):
        "The stem with 아 or 어: 먹어, 가, 도와, 들어, 불러, 해."
        text, kind = self.text, self.kind
        if text.endswith("하"):
            return change(text, vowel="ㅐ")
        if kind == "ㄷ":
            text = change(text, final="ㄹ")
        if kind == "ㅂ":
            return change(text, final="") + ("와" if text == "돕" else "워")
        if kind == "ㅎ":
            last = {"ㅏ": "ㅐ", "ㅑ": "ㅒ"}[vowel(text)]
            return change(text, vowel=last, final="")
        if kind == "르":
            head = change(text[:-1], final="ㄹ")
            return head + ("라" if vowel(head) in "ㅏㅗ" else "러")
        bright = vowel(text) in "ㅏㅗ" and kind != "past"
        if kind == "ㅅ":
            return change(text, final="") + ("아" if bright else "어")
        if final(text):
            return text + ("아" if bright else "어")
        if vowel(text) == "ㅡ":
            bright = len(text) > 1 and vowel(text[:-1]) in "ㅏㅗ"
            return change(text, vowel="ㅏ" if bright else "ㅓ")
        merged = {"ㅗ": "ㅘ", "ㅜ": "ㅝ", "ㅣ": "ㅕ", "ㅚ": "ㅙ"}
        if vowel(text) in "ㅟㅢ":
            return text + "어"
        return change(text, vowel=merged.get(vowel(text), vowel(text)))

    def __add__(self, ending):
        """The stem with an ending, which is named as it stands after 먹:
        아요, 았다, 으면, 은, 을, 는, 는다, 습니다, 고."""
        text, kind, first = self.text, self.kind, ending[0]
        if ending == "아요" and kind == "시":
            return text[:-1] + "세요"
        if first == "아":
            return self.infinitive() + ending[1:]
        if first == "았":
            return change(self.infinitive(), final="ㅆ") + ending[1:]
        if ending == "는다" and (self.adjective or kind in ("past", "있")):
            return text + "다"
        if ending == "은" and kind == "있":
            return text + "는"
        if first in "으은을":
            if kind == "ㄷ":
                return change(text, final="ㄹ") + ending
            if kind == "ㅅ":
                return change(text, final="") + ending
            if kind == "ㅂ":
                text = change(text, final="") + "우"
            if kind == "ㅎ":
                text = change(text, final="")
        if final(text) == "ㄹ":
            if first == "으" and ending[1] != "시":
                return text + ending[1:]
            if first in "으은을는습니":
                text = change(text, final="")
        if final(text):
            return text + ending
        if first == "으":
            return text + ending[1:]
        if ending == "는다" or first in "은을습":
            joined = {"은": "ㄴ", "을": "ㄹ", "습": "ㅂ", "는": "ㄴ"}[first]
            return change(text, final=joined) + ending[1:]
        return text + ending

    def past(self):
        return Stem(self + "았", "past", self.adjective)

    def honorific(self):
        return Stem(self + "으시", "시", self.adjective)


def stem(lemma, adjective=False):
    "The stem of a dictionary form: 듣다, 예쁘다."
    text = lemma.removesuffix("다")
    kind = CLASS.get(lemma, "있" if text[-1] in "있없" else "")
    return Stem(text, kind, adjective)


# --- English morphology ---------------------------------------------------

PASTS = dict(
    word.split(":")
    for word in """be:was eat:ate drink:drank read:read write:wrote buy:bought
    sell:sold make:made see:saw sing:sang take:took draw:drew teach:taught
    wear:wore lose:lost find:found build:built ride:rode catch:caught cut:cut
    choose:chose sleep:slept run:ran go:went come:came give:gave send:sent
    lend:lent meet:met have:had swim:swam throw:threw
    know:knew""".split()
)
# Plural in form, though not in sense: this news.
SINGULAR_S = {"tennis", "table tennis", "news"}
IRREGULAR_PLURALS = {
    "man": "men",
    "woman": "women",
    "child": "children",
    "person": "people",
    "fish": "fish",
}


def plural(noun):
    *before, last = noun.split()
    if last in IRREGULAR_PLURALS:
        last = IRREGULAR_PLURALS[last]
    elif re.search("(s|x|sh|ch)$", last):
        last += "es"
    elif re.search("[^aeiou]y$", last):
        last = last[:-1] + "ies"
    else:
        last += "s"
    return " ".join([*before, last])


def article(phrase):
    "A or an, by the first sound (no word here begins with a silent h)."
    return ("an " if phrase[0] in "aeiou" else "a ") + phrase


def inflect(verb, shape):
    "The verb's s, past or ing form; words after the first stay: turn on."
    verb, _, rest = verb.partition(" ")
    if shape == "past" and verb in PASTS:
        word = PASTS[verb]
    elif shape == "s":
        special = {"have": "has", "go": "goes", "be": "is"}
        word = special.get(verb) or plural(verb)
    elif shape == "past" and verb.endswith("e"):
        word = verb + "d"
    elif shape == "ing" and re.search("[^e]e$", verb) and verb != "be":
        word = verb[:-1] + "ing"
    else:
        # One short vowel doubles what follows it: swimming, planned.
        if re.fullmatch("[^aeiou]*[aeiou][bdgmnptr]", verb):
            verb += verb[-1]
        if shape == "past" and re.search("[^aeiou]y$", verb):
            verb = verb[:-1] + "i"
        word = verb + {"past": "ed", "ing": "ing"}[shape]
    return f"{word} {rest}".strip()


def third(pronoun):
    return pronoun not in ("I", "you", "we", "they")


def be(pronoun, tense):
    if tense == "future":
        return "will be"
    if pronoun == "I":
        return "was" if tense == "past" else "am"
    if third(pronoun):
        return "was" if tense == "past" else "is"
    return "were" if tense == "past" else "are"


# --- The lexicon, read ----------------------------------------------------


@dataclass(frozen=True, eq=False)
class Noun:
    ko: str
    bare: str  # the English of the noun alone
    counter: str = ""

    @property
    def head(self):
        return re.sub("^(an?|the) ", "", self.bare)

    @property
    def countable(self):
        return self.bare != self.head and not self.bare.startswith("the ")

    @property
    def many(self):
        "Plural in itself: glasses."
        return self.bare == self.head and (
            self.head.endswith("s") and self.head not in SINGULAR_S
        )

    @property
    def plural(self):
        return plural(self.head) if self.countable else self.head


@dataclass(frozen=True, eq=False)
class Verb:
    ko: str
    en: str
    nouns: tuple = ()
    places: tuple = ()
    allows: frozenset = frozenset()


@dataclass(frozen=True)
class Phrase:
    "Somebody or something, before it has a particle."

    ko: str
    en: str
    pronoun: str = "it"
    honor: bool = False


@dataclass(frozen=True)
class Time:
    ko: str
    en: str
    needs: frozenset = frozenset()


def items(table):
    return [item.split() for item in table.split(";")]


def lines(table):
    "The table's lines, each with the indented ones after it."
    return [
        [cell.strip() for cell in re.sub(r"\s+", " ", line).split("|")]
        for line in re.split(r"\n(?! )", table.strip())
    ]


def pairs(table):
    "Entries `left = right`, parted by semicolons."
    return [
        tuple(re.sub(r"\s+", " ", side).strip() for side in entry.split("="))
        for entry in table.split(";")
    ]


def hangul(word):
    return "가" <= word[0] <= "힣"


NOUN, MEMBERS = {}, {}
for line in lines(NOUNS):
    name, _, rest = line[0].partition(": ")
    MEMBERS[name] = []
    for ko, *en in items(rest):
        counter = en.pop() if hangul(en[-1]) else ""
        NOUN[ko] = Noun(ko, " ".join(en), counter)
        MEMBERS[name].append(NOUN[ko])


GROUP = {noun: name for name, members in MEMBERS.items() for noun in members}


def nouns(names):
    "The nouns of classes and of single names."
    found = []
    for name in names.split():
        found += MEMBERS.get(name) or ([NOUN[name]] if name in NOUN else [])
    return tuple(found)


PLACE = {}
for ko, *en in items(PLACES):
    at, _, to = " ".join(en).partition(", ")
    PLACE[ko] = (at, to or re.sub("^(at|in|on) ", "to ", at))


def read_verbs(table):
    found = []
    for head, *cells in lines(table):
        ko, _, en = head.partition(" ")
        objects, places, allows = ["", *cells][-3:]
        allows = set(allows.split())
        if "daily" in allows:
            allows.add("weekly")
        found.append(
            Verb(
                ko,
                en,
                nouns(objects),
                tuple(places.split()),
                frozenset(allows),
            )
        )
    return found


TRANSITIVE = read_verbs(VERBS)
INTRANSITIVE = read_verbs(ACTS)
MOVING = [
    Verb(
        *head.split(" ", 1),
        (),
        tuple(places.split()),
        frozenset(" ".join(allows).split()),
    )
    for head, places, *allows in lines(MOVES)
]
GIVING = [
    Verb(*head.split(" ", 1), nouns(objects)) for head, objects in lines(GIFTS)
]


# --- Sentences ------------------------------------------------------------


@dataclass(frozen=True)
class Sentence:
    ko: str
    en: str
    pairs: frozenset = frozenset()  # (verb, object), as in a dictionary


@dataclass(frozen=True)
class Action:
    "A verb with all it takes but its subject and its time."

    verb: Verb
    ko: tuple = ()  # the words before the verb
    en: tuple = ()  # the words after it
    pairs: frozenset = frozenset()
    night: bool = False  # its place allows the night
    denies: bool = False  # says no by itself: 없다, 모르다

    @property
    def adjective(self):
        "As in Korean: it is windy, but 바람이 분다."
        return self.verb.en.startswith("be ") and self.verb.ko != "불다"


@dataclass(frozen=True)
class Form:
    tense: str = "past"
    aspect: str = ""  # progressive, want, can
    negation: str = ""  # 안, 지 않, 못, 지 못하, 수 없


# --- What the templates choose from ---------------------------------------


def alike(one, other):
    return GROUP.get(one) == GROUP.get(other)


def entries(table):
    "Left and right of =, once for each entry on the right after a comma."
    return [
        (left, right.strip())
        for left, rights in pairs(table)
        for right in rights.split(",")
    ]


SUBJECTS = {"name": 45, "I": 16, "we": 8, "other": 16, "elder": 15}
PEOPLE_OF = {
    kind: [
        Phrase(ko, " ".join(en), pronoun, kind == "elder")
        for ko, *en, pronoun in items(table)
    ]
    for kind, table in (("name", NAME), ("other", OTHER), ("elder", ELDERS))
}
NAMES, ELDER = PEOPLE_OF["name"], PEOPLE_OF["elder"]
KIN = [p for p in PEOPLE_OF["other"] if p.en.startswith("my ")]
PEOPLE = NAMES + KIN + ELDER
MYSELF = {
    "I": (Phrase("나", "I", "I"), Phrase("저", "I", "I")),
    "we": (Phrase("우리", "we", "we"), Phrase("저희", "we", "we")),
}
YOU, WHO = Phrase("너", "you", "you"), Phrase("누가", "who", "he")

TIME = {}
for (line,) in lines(TIMES):
    tense, _, rest = line.partition(": ")
    TIME[tense] = []
    for time in items(rest):
        needs = frozenset(w[1:] for w in time if w[0] == "@")
        ko = [w for w in time if hangul(w)]
        en = [w for w in time if not hangul(w) and w[0] != "@"]
        TIME[tense].append(Time(" ".join(ko), " ".join(en), needs))
WEEK = ("요일에", "주에", "주말에", "마다")

EVERY_VERB = TRANSITIVE + INTRANSITIVE + MOVING + GIVING
LIKE, HATE = Verb("좋아하다", "like"), Verb("싫어하다", "hate")
SEE, KNOW, KNOW_NOT = (
    Verb("보다", "see"),
    Verb("알다", "know"),
    Verb("모르다", "know"),
)
WORN = [v for v in TRANSITIVE if v.en == "wear"]
PASTIMES = [
    v
    for v in TRANSITIVE + INTRANSITIVE
    if "weekly" in v.allows
    and v not in WORN
    and v.ko not in ("놀다", "열다", "닫다")
]
DOING = [
    v
    for v in TRANSITIVE + INTRANSITIVE
    if "now" in v.allows
    and v not in WORN
    and not v.allows & {"long", "adult", "part"}
]
HEADS = nouns("사람 남자 여자 학생 아이")
# Where one lives, and what one travels around: not 에서.
PLACED = {"살다": "에", "여행하다": "을"}
NOT_STAYED = ("강", "버스", "지하철", "기차")
NEAR_BY = ("버스", "지하철", "택시", "자전거")
DAILY_PLACES = "학교 회사 공원 도서관 시장 식당 카페 체육관".split()

OWNABLE = nouns(
    "wear skirt feet head hand carry lost device bike book furniture"
)
UNCOUNTED = nouns("language subject")
SPENT = [Noun("시간", "time"), Noun("돈", "money")]
ADJECTIVE = []
for head, said_of, *allows in lines(ADJECTIVES):
    ko, en = head.split(" ", 1)
    allows = frozenset(allows)
    ADJECTIVE.append(Verb(ko, "be " + en, nouns(said_of), (), allows))
FEELING = [Verb(ko, "be " + en) for ko, en in items(FEELINGS)]
DESCRIBED = {}
for adjective in ADJECTIVE:
    for noun in adjective.nouns:
        if noun not in UNCOUNTED and not noun.bare.startswith("the "):
            DESCRIBED.setdefault(noun, []).append(adjective)

ERRAND, SEQUENCES = entries(ERRANDS), entries(SEQUENCE)
TOGETHER, REQUESTS = entries(WHILE), pairs(REQUEST)
LOCATION = [
    (*re.match("([가-힣 ]+) (.*)", where).groups(), noun)
    for where, names in pairs(LOCATIONS)
    for noun in nouns(names)
]
TOOL = {}
for use, objects in pairs(TOOLS):
    verb, ko, en = use.split(" ", 2)
    for noun in nouns(objects):
        TOOL.setdefault((verb, noun.ko), []).append((ko, en))
HISTORIES = [
    (verb, before)
    for lemma, befores in pairs(HISTORY)
    for verb in TRANSITIVE + GIVING
    for before in TRANSITIVE
    if verb.ko == lemma
    and before.ko in befores.split()
    and before not in WORN
    and set(verb.nouns) & set(before.nouns)
]
CONTRAST = [
    (noun, *(a for a in ADJECTIVE if a.ko in left.split()))
    for left, names in pairs(CONTRASTS)
    for noun in nouns(names)
]
RESULT = [
    (verb, adjective, noun)
    for lemma, adjectives in pairs(RESULTS)
    for verb in TRANSITIVE
    for adjective in ADJECTIVE
    for noun in verb.nouns
    if verb.ko == lemma
    and verb not in WORN
    and adjective.ko in adjectives.split()
    and noun in adjective.nouns
]
MOODS, SKY = [], []
for head, results in lines(STATES):
    *part, lemma = re.match("[가-힣 ]+", head)[0].split()
    en = re.search("[a-z].*", head)[0]
    denies = en.startswith("not ")
    mood = Action(
        Verb(lemma, en.removeprefix("not ")), tuple(part), denies=denies
    )
    MOODS += [(mood, result) for result in results.split(", ")]
for head, results in lines(WEATHER):
    subject, lemma, *en = head.split()
    split = 1 if en[0] == "it" else 2
    sky = Phrase(subject, " ".join(en[:split]))
    verb = Verb(lemma, " ".join(en[split:]))
    SKY += [((sky, verb), result) for result in results.split(", ")]


# --- Clauses --------------------------------------------------------------


def mark(who, which):
    "A phrase with its particle: 민수는, 내가, 할머니께서는."
    if who == WHO:
        return who.ko
    if who.honor and which in ("은", "이", "에게"):
        return who.ko + {"은": "께서는", "이": "께서", "에게": "께"}[which]
    if which == "이" and who.ko in ("나", "저", "너"):
        return {"나": "내가", "저": "제가", "너": "네가"}[who.ko]
    return particle(who.ko, which)


def predicate(action, form, who):
    "The Korean verb: the words before its last stem, and that stem."
    lemma, words = action.verb.ko, []
    base = stem(lemma, action.adjective)
    # An elder is (계시) somewhere, but time is (있으시) hers.
    own = action.verb.en.startswith("have")
    if who.honor and lemma in HONORIFIC and not own:
        base = Stem(HONORIFIC[lemma], "시")

    def raised(base):
        return base.honorific() if who.honor and base.kind != "시" else base

    if form.aspect == "progressive":
        words = [base + "고"]
        base = Stem("계시", "시") if who.honor else stem("있다")
    if form.aspect == "want":
        words, base = [base + "고"], Stem("싶", adjective=True)
        # Only one's own wish is known; another's shows: 싶어 하다.
        if who.pronoun not in ("I", "we", "you"):
            words, base = [*words, "싶어"], Stem("하")
    if form.aspect == "can":
        able = "없다" if form.negation == "수 없" else "있다"
        return [raised(base) + "을", "수"], stem(able)
    if form.negation in ("안", "못"):
        words = [form.negation, *words]
    if form.negation in ("지 않", "지 못하"):
        words = [*words, base + "지"]
        base = Stem(form.negation[2:], adjective=base.adjective)
    return words, raised(base)


def close(action, form, who, register, ask=False):
    "The Korean verb at the end of a sentence, as words."
    words, last = predicate(action, form, who)
    if form.tense == "future":
        ends = {
            "plain": "거니" if ask else "것이다",
            "polite": "거예요",
            "formal": "것입니까" if ask else "것입니다",
        }
        return [*words, last + "을", ends[register]]
    if form.tense == "past":
        last = last.past()
    ends = {
        "plain": "니" if ask else "는다",
        "polite": "아요",
        "formal": "습니까" if ask else "습니다",
    }
    return [*words, last + ends[register]]


def link(action, form, who, ending):
    "The Korean verb at the end of a clause that another one follows."
    words, last = predicate(action, form, who)
    if form.tense == "past" and ending == "지만":
        last = last.past()
    return [*words, last + ending]


def clause(who, action, form, time=None, ask=False):
    "The English clause; ask turns it around, as all but 'who' questions do."
    verb, pronoun, past = action.verb.en, who.pronoun, form.tense == "past"
    negative = bool(form.negation) or action.denies
    early = [time.en] if time and time.en in BEFORE_VERB else []
    late = [time.en] if time and not early else []
    if form.aspect == "want":
        verb = "want to " + verb
    if form.aspect == "can" or form.negation in ("못", "지 못하"):
        helper = "could" if past else "can"
    elif form.aspect == "progressive":
        helper, verb = be(pronoun, form.tense), inflect(verb, "ing")
    elif form.tense == "future":
        helper = "will"
    elif verb.split()[0] == "be":
        helper, verb = be(pronoun, form.tense), verb[3:]
    elif negative or ask:
        helper = "did" if past else "does" if third(pronoun) else "do"
    else:
        helper = ""
        if past or third(pronoun):
            verb = inflect(verb, "past" if past else "s")
    no = ["not"] if negative else []
    if negative and helper == "can":
        helper, no = "cannot", []
    front = [helper, who.en, *no] if ask else [who.en, helper, *no]
    return [w for w in [*front, *early, verb, *action.en, *late] if w]


def copula(what, register, no=False, honor=False):
    "To be something: 의사이다, 친구예요, 의사가 아니다."
    if no:
        base = Stem("아니", adjective=True)
        base = base.honorific() if honor else base
        ending = {"plain": "는다", "polite": "아요", "formal": "습니다"}
        end = base + ending[register]
        return [particle(what.ko, "이"), end.replace("아녀요", "아니에요")]
    s = "시" if honor else ""
    polite = "세요" if honor else "에요"
    end = {"plain": f"이{s}다", "polite": "이" + polite, "formal": "입니다"}
    if honor:
        end["formal"] = "이십니다"
    if not final(what.ko):
        end["polite"] = "세요" if honor else "예요"
    return [what.ko + end[register]]


def sentence(ko, en, actions=(), mark="."):
    found = frozenset().union(*(action.pairs for action in actions))
    en = " ".join(en)
    return Sentence(" ".join(ko) + mark, en[0].upper() + en[1:] + mark, found)


def possessive(who):
    "Whose: 민수의 and Minsu's."
    return who.ko + "의", who.en + ("'" if who.en.endswith("s") else "'s")


def about(noun, which, whose=None):
    "이, 그, 내 or 우리 before a noun, or somebody's noun."
    en = {"이": "this", "그": "the", "내": "my", "제": "my", "우리": "our"}
    ko, en = whose or (which, en[which])
    if en == "this" and noun.many:
        en = "these"
    pronoun = "they" if noun.many else "it"
    return Phrase(f"{ko} {noun.ko}", f"{en} {noun.head}", pronoun)


def counted(noun, number):
    "Its number in Korean and all of it in English: two cups of coffee."
    ko, one = f"{number} {noun.counter}", number == "한"
    if noun.counter in MEASURES:
        measure = MEASURES[noun.counter]
        en = f"{measure if one else plural(measure)} of {noun.plural}"
    else:
        en = noun.head if one else noun.plural
    return ko, f"{NUMBERS.get(number, '')} {en}".strip()


def described(noun, adjective):
    phrase = f"{adjective.en.removeprefix('be ')} {noun.head}"
    phrase = article(phrase) if noun.countable else phrase
    return Phrase(f"{stem(adjective.ko, True) + '은'} {noun.ko}", phrase)


def suits(verb, who):
    "Grandmothers do not run to school, nor do children sell beds."
    unfit = {"young"} if who.honor else set()
    unfit |= {"adult"} if who.pronoun == "they" else set()
    unfit |= {"her"} if who.pronoun != "she" else set()
    return not unfit & verb.allows


def numbered(action):
    return bool(set(NUMBERS) & set(" ".join(action.ko).split()))


def short(verb):
    "안 and 못 stand before a verb, but not before a noun with 하다."
    return not verb.ko.endswith("하다") or verb.ko == "하다"


def plain_stem(action, who):
    "The verb's stem in an inner clause; the last verb alone is honorific."
    return predicate(action, Form(), replace(who, honor=False))[1]


def stay(who):
    "The subject once more, as a pronoun: Minsu ate because he was hungry."
    return Phrase("", who.pronoun, who.pronoun)


class Speaker:
    """Says one sentence after the other; all chance is here.  A template
    answers None where the choices do not fit together."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def chance(self, p):
        return self.random.random() < p

    def choose(self, options):
        if not isinstance(options, (list, tuple, str)):
            options = list(options)
        return options[int(self.random.random() * len(options))]

    # Parts of sentences

    def register(self, formal=False):
        "Plain, polite or, where a template allows it, formal."
        ways = ["plain", "plain", "polite", "polite", "formal"]
        return self.choose(ways if formal else ways[:-1])

    def someone(self, own=True, formal=False):
        "Who does it, and a register that suits: the polite one for elders."
        kind = self.random.choices(list(SUBJECTS), SUBJECTS.values())[0]
        if kind in ("I", "we"):
            if not own:
                return self.someone(own)
            register = self.register(formal)
            return MYSELF[kind][register != "plain"], register
        who = self.choose(PEOPLE_OF[kind])
        return who, "polite" if who.honor else self.register(formal)

    def asked(self):
        "Whom a question is about: you, said plainly, or a third, politely."
        if self.chance(0.25):
            return YOU, "plain"
        return self.someone(own=False)[0], "polite"

    def companion(self, who):
        return self.choose(p for p in PEOPLE if p.en != who.en)

    def time(self, tense, action):
        "A time of this tense that suits the action, if there is one."
        allows = action.verb.allows

        def fits(time):
            if "long" in allows and tense in ("past", "future"):
                return "span" in time.needs
            if "part" in allows and "part" in time.needs:
                return False
            if "night" in time.needs and not action.night:
                return False
            if "dark" in allows and "night" not in time.needs:
                return False
            if "brief" in allows and time.ko.endswith(WEEK):
                return False
            return time.needs & {"span", "daily", "weekly"} <= allows

        times = [time for time in TIME[tense] if fits(time)]
        return self.choose(times) if times else None

    def thing(self, verb, noun, who, plain=False):
        "The object with its particle, its English, and the nouns in it."
        ways = ["bare"] * 8
        # We wear hats, one each.
        each = verb in WORN and who.pronoun in ("we", "they")
        if not plain and not each:
            ways += ["own"] * 3 * ("own" in verb.allows)
            ways += ["few"] * 6 * ("few" in verb.allows and noun.counter != "")
            ways += ["and"] * 2 * ("and" in verb.allows)
            ways += ["adj"] * 3 * ("adj" in verb.allows and noun in DESCRIBED)
        way, both = self.choose(ways), [noun]

        def bare(noun):
            if "the" in verb.allows:
                return f"the {noun.head}"
            many = "many" in verb.allows or each
            return noun.plural if many else noun.bare

        what = Phrase(noun.ko, bare(noun))
        if way == "few":
            # Nobody drinks ten bottles of water or meets ten doctors.
            small = noun.counter in {*MEASURES, "명"}
            some = list(NUMBERS)[: 3 if small else None]
            ko, en = counted(noun, self.choose(some))
            if self.chance(0.3):
                return f"{particle(noun.ko, '을')} {ko}", en, both
            what = Phrase(f"{noun.ko} {ko}", en)
        if way == "own":
            mine = {"나": "내", "저": "제"}.get(who.ko)
            mine = mine if noun in OWNABLE else None
            what = about(noun, mine or self.choose("이그"))
        if way == "adj":
            what = described(noun, self.choose(DESCRIBED[noun]))
        if way == "and":
            other = self.choose(n for n in verb.nouns if alike(n, noun))
            if other != noun:
                both = [noun, other]
                ko = f"{particle(noun.ko, '과')} {other.ko}"
                what = Phrase(ko, f"{bare(noun)} and {bare(other)}")
        return particle(what.ko, "을"), what.en, both

    def act(self, verb, who, noun=None, place=None, plain=False):
        "A verb with its object, place, companion, tool; plain: without more."
        ko, en, found = [], [], frozenset()
        somewhere = "where" in verb.allows or self.chance(0.5)
        if verb.ko in PLACED or verb.places and not plain and somewhere:
            place = place or self.choose(verb.places)
        if place:
            ko = [particle(place, PLACED.get(verb.ko, "에서"))]
            en = [PLACE[place][0]]
            if verb.ko == "여행하다":
                en = en[0].split()[1:]
        together = "with" in verb.allows and not plain and self.chance(0.25)
        if together or verb.ko == "이야기하다":
            friend = self.companion(who)
            friends = [particle(friend.ko, "과"), *["함께"] * self.chance(0.4)]
            # With my father in Busan, where the place is the goal.
            ko = [*friends, *ko] if verb.ko in PLACED else [*ko, *friends]
            en = [f"with {friend.en}", *en]
        if verb.nouns:
            noun = noun or self.choose(verb.nouns)
            tools = TOOL.get((verb.ko, noun.ko))
            if tools and not plain and self.chance(0.4):
                tool, tool_en = self.choose(tools)
                ko.append(particle(tool, "으로"))
                en = [f"with {tool_en}", *en]
            what, what_en, both = self.thing(verb, noun, who, plain)
            ko, en = [*ko, what], [what_en, *en]
            found = frozenset((verb.ko, each.ko) for each in both)
        night = "night" in verb.allows and place in (None, "집", "방")
        return Action(verb, tuple(ko), tuple(en), found, night)

    def move(self, verb, who, place=None, plain=False):
        "Going somewhere, perhaps with somebody, perhaps by bus."
        place = place or self.choose(verb.places)
        ko, en, toward = [], [PLACE[place][1]], "에"
        if not plain and self.chance(0.25):
            friend = self.companion(who)
            ko, en = [particle(friend.ko, "과")], [*en, f"with {friend.en}"]
        if verb.ko in ("가다", "오다") and not plain and self.chance(0.4):
            far = {"서울": "기차", "부산": "기차", "제주도": "비행기"}
            by = far.get(place) or self.choose(NEAR_BY)
            ko.append(particle(by, "으로"))
            en = [en[0], VEHICLES[by], *en[1:]]
        elif verb.ko != "오다" and self.chance(0.3):
            toward = "으로"
        ko.append(particle(place, toward))
        return Action(verb, tuple(ko), tuple(en))

    def give(self, verb, who, noun=None, plain=False):
        "Giving something to somebody; 드리다 to an elder."
        noun, to = noun or self.choose(verb.nouns), self.companion(who)
        what, what_en, _ = self.thing(verb, noun, who, plain=True)
        found = frozenset({(verb.ko, noun.ko)})
        if to.honor:
            verb = replace(verb, ko=verb.ko.replace("주다", "드리다"))
        ko = [mark(to, "에게"), what]
        if self.chance(0.2):
            ko.reverse()
        return Action(verb, tuple(ko), (what_en, f"to {to.en}"), found)

    def make(self, verb, who, **given):
        "The action of a verb, of whatever kind it is."
        if verb in MOVING:
            return self.move(verb, who, **given)
        if verb in GIVING:
            return self.give(verb, who, **given)
        return self.act(verb, who, **given)

    def anything(self, who, need=None, avoid=()):
        "Any action that suits somebody, whose verb allows what is needed."
        kinds = [TRANSITIVE, INTRANSITIVE, MOVING, GIVING]
        while True:
            (kind,) = self.random.choices(kinds, [60, 14, 16, 10])
            verb = self.choose(kind)
            fits = need is None or need in verb.allows
            if fits and suits(verb, who) and not verb.allows & set(avoid):
                return self.make(verb, who)

    def listed(self, entry, who):
        "The action that a table names: 먹다 meal, 가다 병원, 쉬다."
        lemma, _, rest = entry.removeprefix("못 ").partition(" ")
        verbs = [v for v in EVERY_VERB if v.ko == lemma]
        named = nouns(rest)
        fits = [(v, n) for v in verbs for n in v.nouns if n in named]
        if fits:
            verb, noun = self.choose(fits)
            return self.act(verb, who, noun, plain=True)
        place = self.choose(rest.split()) if rest else None
        return self.make(verbs[0], who, place=place, plain=True)

    def no(self, verb, unable=False):
        "One of the ways to say not, or cannot."
        ways = ("못", "지 못하") if unable else ("안", "지 않")
        return self.choose(ways) if short(verb) else ways[1]

    def tell(self, who, register, action, form, time=None, ask=(), topic=0.85):
        "A sentence of one clause.  ask: (True,) or a question word's English."
        if not suits(action.verb, who):
            return None
        # Where I am to be is not yet here: 가다.
        ahead = form.tense == "future" or form.aspect == "want"
        if ahead and action.verb.ko == "오다" and who.pronoun in ("I", "we"):
            return None
        if time and time.ko == "세 시에" and form.negation in ("안", "지 않"):
            return None
        # Much of what one says names no time; a habit does.
        if form != Form("present") and self.chance(0.3):
            time = None
        subject = mark(who, "은" if self.chance(topic) else "이")
        ko = [subject, time.ko] if time else [subject]
        if time and time.en not in BEFORE_VERB and self.chance(0.25):
            ko.reverse()
        turned = bool(ask) and who != WHO
        ko += [*action.ko, *close(action, form, who, register, bool(ask))]
        en = [word for word in ask if word is not True]
        en += clause(who, action, form, time, turned)
        return sentence(ko, en, [action], "?" if ask else ".")

    # Templates: one clause

    def event(self):
        who, register = self.someone(formal=True)
        tense = self.choose(["past", "past", "future"])
        avoid = ["past"] if tense == "future" else []
        action = self.anything(who, avoid=avoid)
        time = self.time(tense, action)
        return time and self.tell(who, register, action, Form(tense), time)

    def habit(self):
        who, register = self.someone()
        if self.chance(0.8):
            action = self.anything(who, "weekly")
        else:
            place = self.choose(DAILY_PLACES)
            action = self.move(self.choose(MOVING[:3]), who, place)
            verb = replace(action.verb, allows=frozenset(["daily", "weekly"]))
            action = replace(action, verb=verb)
        time = self.time("habit", action)
        if numbered(action) and action.verb.ko not in ("먹다", "마시다"):
            return None
        return self.tell(who, register, action, Form("present"), time, (), 1)

    def progress(self):
        who, register = self.someone(formal=True)
        action, past = self.anything(who, "now"), self.chance(0.25)
        if past and "long" in action.verb.allows:
            return None
        form = Form("past" if past else "present", "progressive")
        time = self.choose(TIME["then" if past else "now"])
        return self.tell(who, register, action, form, time)

    def denial(self):
        who, register = self.someone()
        action = self.anything(who, avoid=["past", "long"])
        if numbered(action) or len(action.pairs) > 1:
            return None
        tense = self.choose(["past", "past", "past", "future"])
        how = self.no(action.verb, tense == "past" and self.chance(0.4))
        time = self.time(tense, action)
        form = Form(tense, "", how)
        return time and self.tell(who, register, action, form, time, topic=1)

    def ability(self):
        "What one can do at all, or can do tomorrow."
        who, register = self.someone()
        if self.chance(0.6):
            verb = self.choose(v for v in EVERY_VERB if "skill" in v.allows)
            action, time = self.act(verb, who, plain=True), None
        else:
            action = self.anything(who, avoid=["past", "long", "chore"])
            time = self.time("future", action)
            if numbered(action) or action.verb in WORN:
                return None
            if not time or "span" in time.needs:
                return None
        form, ask = Form("present", "can"), ()
        if self.chance(0.4):
            form = Form("present", "can", "수 없")
            if short(action.verb) and self.chance(0.6):
                form = Form("present", "", "못")
        elif not time and who.pronoun not in ("I", "we") and self.chance(0.3):
            ask, register = (True,), "polite"
        return self.tell(who, register, action, form, time, ask, 1)

    def wish(self):
        who, register = self.someone(formal=True)
        if self.chance(0.35):
            who = MYSELF["I"][register != "plain"]
        action = self.anything(who, avoid=["past", "long", "chore"])
        time = self.time("future", action) if self.chance(0.5) else None
        form = Form("present", "want", "지 않" if self.chance(0.15) else "")
        return self.tell(who, register, action, form, time, topic=1)

    def question(self):
        who, register = self.asked()
        tense = self.choose(["past", "past", "future", "habit", "now"])
        need = {"habit": "weekly", "now": "now"}.get(tense)
        action = self.anything(who, need, avoid=["past", "long"])
        time = self.time(tense, action)
        form = Form(tense if need is None else "present")
        if tense == "now":
            form = Form("present", "progressive")
        return time and self.tell(who, register, action, form, time, (True,))

    def who_did(self):
        "Who: the only question that keeps the order of a statement."
        tense = self.choose(["past", "past", "future"])
        action = self.anything(WHO, avoid=["past", "long"])
        time = self.time(tense, action)
        return time and self.tell(
            WHO, "polite", action, Form(tense), time, (True,)
        )

    def what_where_when(self):
        who, register = self.asked()
        word = self.choose(
            ["what", "whom", "where", "where to", "when", "many"]
        )
        tense = self.choose(["past", "past", "future"])
        if word in ("what", "whom"):
            verb = self.choose(v for v in TRANSITIVE if word in v.allows)
            place = None
            if verb.places and self.chance(0.6):
                place = self.choose(verb.places)
            at = [place + "에서"] if place else []
            ko = [*at, "무엇을" if word == "what" else "누구를"]
            en = [PLACE[place][0]] if place else []
            action = Action(verb, tuple(ko), tuple(en))
            ask = ("What" if word == "what" else "Who",)
        elif word == "where":
            verb = self.choose(
                v
                for v in TRANSITIVE + INTRANSITIVE
                if v.places and v.ko not in PLACED
            )
            action = self.act(verb, who, plain=True)
            action = replace(action, ko=("어디에서", *action.ko))
            ask = ("Where",)
        elif word == "where to":
            action, ask = Action(MOVING[0], ("어디에",)), ("Where",)
        elif word == "when":
            action, ask = self.anything(who), ("When",)
            action = replace(action, ko=("언제", *action.ko))
        else:
            verb = self.choose(v for v in TRANSITIVE if "few" in v.allows)
            noun = self.choose(n for n in verb.nouns if n.counter)
            ko, en = counted(noun, "몇")
            ko = self.choose(
                [
                    particle(f"{noun.ko} {ko}", "을"),
                    f"{particle(noun.ko, '을')} {ko}",
                ]
            )
            found = frozenset({(verb.ko, noun.ko)})
            action, ask = Action(verb, (ko,), (), found), ("How many", en)
        avoid = {"long", "past"} if tense == "future" else {"long"}
        time = None if word == "when" else self.time(tense, action)
        if action.verb.allows & avoid or not time and word != "when":
            return None
        return self.tell(
            who, register, action, Form(tense), time, ask, topic=1
        )

    def errand(self):
        "책을 사러 서점에 갔다."
        who, register = self.someone()
        place, what = self.choose(ERRAND)
        goal = self.listed(what, who)
        verb = self.choose(v for v in MOVING[:2] if place in v.places)
        going = self.move(verb, who, place, plain=True)
        ko = (*goal.ko, stem(goal.verb.ko) + "으러", *going.ko)
        en = (*going.en, "to", goal.verb.en, *goal.en)
        tense = self.choose(["past", "past", "future"])
        action = Action(verb, ko, en, goal.pairs)
        return suits(goal.verb, who) and self.tell(
            who, register, action, Form(tense), self.time(tense, action)
        )

    def there_is(self):
        where, where_en, noun = self.choose(LOCATION)
        tense = self.choose(["present", "present", "past"])
        no = self.chance(0.25)
        what, many = particle(noun.ko, "이"), noun.many
        en = f"no {noun.plural}" if no else noun.bare
        many = many or no and noun.countable
        plain_count = noun.counter and noun.counter not in MEASURES
        if plain_count and not no and self.chance(0.4):
            # Much stands on a table, less under a bed.
            most = None if where.endswith("위") else 4
            number = self.choose(list(NUMBERS)[:most])
            ko, en = counted(noun, number)
            many = number != "한"
            what = particle(f"{noun.ko} {ko}", "이")
            if self.chance(0.3):
                what = f"{particle(noun.ko, '이')} {ko}"
        verb = Action(Verb("없다" if no else "있다", "be"))
        end = close(verb, Form(tense), WHO, self.register())
        ko = [where + ("에는" if no else "에"), what, *end]
        is_ = be("they" if many else "it", tense)
        return sentence(ko, ["there", is_, en, where_en])

    def having(self):
        who, register = self.someone()
        noun, no = self.choose([*nouns(OWNED), *SPENT]), self.chance(0.4)
        ko, en, ask = particle(noun.ko, "이"), noun.bare, ()
        if noun.counter and not no and self.chance(0.4):
            ko, en = counted(noun, self.choose(["두", "세", "네"]))
            ko = f"{particle(noun.ko, '이')} {ko}"
        if who.pronoun not in ("I", "we") and not no and self.chance(0.3):
            ask, register = (True,), "polite"
        verb = Verb("없다" if no else "있다", "have")
        form = Form(self.choose(["present", "present", "past"]))
        action = Action(verb, (ko,), (en,), denies=no)
        return self.tell(who, register, action, form, None, ask, topic=1)

    def being_at(self):
        who, register = self.someone()
        tense = self.choose(["now", "past", "future"])
        place, ask = self.choose([p for p in PLACE if p not in NOT_STAYED]), ()
        action = Action(
            Verb("있다", "be"), (place + "에",), (PLACE[place][0],)
        )
        if who.pronoun not in ("I", "we") and self.chance(0.4):
            ask, register = (True,), "polite"
            if self.chance(0.6):
                ask, action = ("Where",), Action(action.verb, ("어디에",))
        time = self.time(tense, action)
        form = Form("present" if tense == "now" else tense)
        return self.tell(who, register, action, form, time, ask, topic=1)

    def quality(self):
        "이 가방은 무겁다, 민수의 모자는 예쁘다, 영어는 어렵다."
        adjective, register = self.choose(ADJECTIVE), self.register()
        noun = self.choose(adjective.nouns)
        who = about(noun, self.choose("이그"))
        owner = self.choose(NAMES + KIN)
        hers = noun in nouns("skirt") and owner.pronoun != "she"
        if noun in OWNABLE and not hers and self.chance(0.6):
            who = about(noun, "", possessive(owner))
        if noun.ko in ("집", "교실", "방") and self.chance(0.6):
            who = about(noun, "우리")
        if noun in UNCOUNTED:
            who = Phrase(noun.ko, noun.bare)
        past = "passing" in adjective.allows and self.chance(0.4)
        ask, form = (), Form("past" if past else "present")
        if self.chance(0.2):
            ask, register = (True,), "polite"
        if not ask and "colour" not in adjective.allows and self.chance(0.2):
            form = replace(form, negation="지 않")
        return self.tell(
            who, register, Action(adjective), form, None, ask, 0.9
        )

    def feeling(self):
        "할머니께서는 요즘 바쁘시다."
        who, register = self.someone()
        tense = self.choose(["past", "state"])
        time = self.choose(TIME[tense][:3])
        form = Form("past" if tense == "past" else "present")
        ask = ()
        if who.pronoun not in ("I", "we") and self.chance(0.25):
            ask, register = (True,), "polite"
        elif self.chance(0.25):
            form = replace(form, negation="지 않")
        action = Action(self.choose(FEELING))
        return self.tell(who, register, action, form, time, ask, 1)

    def weather(self):
        (who, verb), _ = self.choose(SKY)
        tense = self.choose(["past", "future"])
        time, ask = self.time(tense, Action(verb)), self.chance(0.25)
        action, form = Action(verb), Form(tense)
        register = "polite" if ask else self.register()
        ko = [time.ko, mark(who, "이")]
        ko += close(action, form, who, register, ask)
        en = clause(who, action, form, time, ask)
        return sentence(ko, en, [], "?" if ask else ".")

    def contrast(self):
        "이 가방은 비싸지만 예쁘다."
        noun, *two = self.choose(CONTRAST)
        self.random.shuffle(two)
        # Cheap but good, never good but cheap.
        two.sort(key=lambda adjective: adjective.ko != "싸다")
        one, other = map(Action, two)
        who = about(noun, self.choose("이그"))
        if noun in UNCOUNTED:
            who = Phrase(noun.ko, noun.bare)
        form = Form("present")
        ko = [mark(who, "은"), *link(one, form, who, "지만")]
        ko += close(other, form, who, self.register())
        en = [
            *clause(who, one, form),
            "but",
            other.verb.en.removeprefix("be "),
        ]
        return sentence(ko, en)

    def liking(self):
        "커피를 좋아한다, 커피는 좋아하지만 녹차는 좋아하지 않는다."
        who, register = self.someone()
        noun = self.choose(nouns(LIKED))
        verb = self.choose([LIKE, LIKE, HATE])

        def of(noun, which, verb=LIKE):
            ko, found = particle(noun.ko, which), {(verb.ko, noun.ko)}
            return Action(verb, (ko,), (noun.plural,), frozenset(found))

        form, no = Form("present"), Form("present", "", "지 않")
        others = [n for n in nouns(LIKED) if n != noun and alike(n, noun)]
        if self.chance(0.3) and others:
            one, other = of(noun, "은"), of(self.choose(others), "은")
            ko = [mark(who, "은"), *one.ko, *link(one, form, who, "지만")]
            ko += [*other.ko, *close(other, no, who, register)]
            en = [*clause(who, one, form), "but"]
            en += clause(who, other, no)[1:]
            return sentence(ko, en, [one, other])
        action, ask = of(noun, "을", verb), ()
        if self.chance(0.25):
            form, action = no, of(noun, "을")
        elif who.pronoun not in ("I", "we") and self.chance(0.3):
            ask, register = (True,), "polite"
        return self.tell(who, register, action, form, None, ask, topic=1)

    def job(self):
        who, register = self.someone()
        if who.pronoun in ("we", "they", "teacher"):
            return None
        noun, other = self.choose(nouns(JOBS)), self.choose(NAMES)
        what, no = Phrase(noun.ko, noun.bare), self.chance(0.3)
        if not who.honor and other != who and self.chance(0.5):
            ko, en = possessive(other)
            what = Phrase(f"{ko} 친구", f"{en} friend")
        ko = [mark(who, "은"), *copula(what, register, no, who.honor)]
        is_ = be(who.pronoun, "present")
        return sentence(ko, [who.en, is_, *["not"] * no, what.en])

    def request(self):
        "지금 창문을 열어 주세요."
        lemma, names = self.choose(REQUESTS)
        noun = self.choose(nouns(names))
        verb = next(v for v in EVERY_VERB if v.ko == lemma and noun in v.nouns)
        what = about(noun, self.choose("이그"))
        if noun.bare.startswith("the "):
            what = Phrase(noun.ko, noun.bare)
        ko, en = [particle(what.ko, "을")], [what.en]
        time = self.choose(TIME["request"])
        if verb in GIVING:
            to = self.choose(PEOPLE)
            ko, en = [mark(to, "에게"), *ko], [*en, f"to {to.en}"]
            lemma = lemma.replace("주다", "드리다") if to.honor else lemma
            end = [stem(lemma).honorific() + "아요"]
        elif verb.nouns == nouns("opening") or verb.nouns[0] in nouns(
            "switch"
        ):
            time = TIME["request"][0]
            end = [stem(lemma) + "아", "주세요"]
        else:
            end = [stem(lemma) + "아", "주세요"]
        no = []
        if verb not in GIVING and self.chance(0.3):
            no, time = ["do not"], TIME["request"][0]
            end = [stem(lemma) + "지", "마세요"]
        action = Action(verb, pairs=frozenset({(verb.ko, noun.ko)}))
        en = ["please", *no, verb.en, *en, time.en]
        return sentence([time.ko, *ko, *end], en, [action])

    # Templates: a clause before a noun

    def thing_made(self):
        "민수는 지영이 만든 빵을 먹었다: that he or somebody else did before."
        who, register = self.someone()
        verb, before = self.choose(HISTORIES)
        noun = self.choose(n for n in verb.nouns if n in before.nouns)
        other, time = self.companion(who), None
        subject, doer = [mark(other, "이")], other
        if self.chance(0.4):
            time = self.choose(TIME["past"][:4])
            subject, other, doer = [time.ko], who, stay(who)
        if doer.pronoun == "teacher" and not doer.ko:
            return None
        form = Form("past")
        if self.chance(0.2) and verb not in GIVING:
            form = Form("past", "", self.no(verb))
        if verb in WORN and who.pronoun in ("we", "they"):
            return None
        action = self.make(verb, who, noun=noun, plain=True)
        words, last = predicate(Action(before), Form(), other)
        said = [*subject, *words, last + "은"]
        bare = particle(noun.ko, "을")
        ko = [" ".join([*said, w]) if w == bare else w for w in action.ko]
        if verb in GIVING:
            ko.sort(key=lambda words: bare in words)
        what = ["the", noun.head, "that"]
        what += clause(doer, Action(before), Form("past"), time)
        en = (" ".join(what),)
        if verb in GIVING:
            to = action.en[1].removeprefix("to ")
            # Gave my mother the bread that she made: who did?
            both = (to, doer.en) in [(p.en, p.pronoun) for p in PEOPLE]
            if to == other.en or both:
                return None
            # The long object goes last: gave my mother the bread that ...
            en = (to, *en)
        found = action.pairs | {(before.ko, noun.ko)}
        action = Action(action.verb, tuple(ko), en, frozenset(found))
        settled = verb in GIVING or "past" in verb.allows
        if not settled and not form.negation and self.chance(0.25):
            form = Form("future")
        if not suits(before, other):
            return None
        return self.tell(who, register, action, form, topic=1)

    def thing_is(self):
        "지영이 만든 케이크는 맛있었다."
        before, adjective, noun = self.choose(RESULT)
        other, register = self.someone()
        time = self.choose(TIME["past"][:4]) if self.chance(0.5) else None
        words, last = predicate(Action(before), Form(), other)
        when = [time.ko] if time else []
        ko = [mark(other, "이"), *when, *words, last + "은", noun.ko]
        en = ["the", noun.head, "that"]
        en += clause(other, Action(before), Form("past"), time)
        pronoun = "they" if noun.many else "it"
        who = Phrase(" ".join(ko), " ".join(en), pronoun)
        past = "passing" in adjective.allows and self.chance(0.6)
        found = frozenset({(before.ko, noun.ko)})
        action, form = Action(adjective, pairs=found), Form("past")
        form = form if past else Form("present")
        return suits(before, other) and self.tell(
            who, register, action, form, topic=1
        )

    def person_doing(self):
        "공원에서 사진을 찍는 남자를 봤다, 모자를 쓴 아이는 내 동생이다."
        head = self.choose(HEADS)
        who = WHO if head.ko != "여자" else KIN[0]
        worn = self.chance(0.3) or head.ko == "아이"
        verb = self.choose(WORN if worn else DOING)
        noun = self.choose(verb.nouns) if verb.nouns else None
        # Strangers are met outside.
        places, place = [p for p in verb.places if p not in ("집", "방")], None
        if places and self.chance(0.6):
            place = self.choose(places)
        action = self.act(verb, who, noun, place, plain=True)
        # The woman crying at school, not the woman crying.
        if not action.ko or not suits(verb, who):
            return None
        colours = [a for a in DESCRIBED.get(noun, ()) if "colour" in a.allows]
        striking = noun in nouns("head 한복 운동화 구두")
        if worn and not (striking and self.chance(0.4)):
            if not colours:
                return None
            what = described(noun, self.choose(colours))
            ko, found = particle(what.ko, "을"), {(verb.ko, noun.ko)}
            action = Action(verb, (ko,), (what.en,), frozenset(found))
        ko = [*action.ko, stem(verb.ko) + ("은" if worn else "는"), head.ko]
        en = ["the", head.head, inflect(verb.en, "ing"), *action.en]
        who = Phrase(" ".join(ko), " ".join(en))
        if self.chance(0.6):
            someone, register = self.someone()
            main = self.choose([SEE, KNOW, KNOW_NOT])
            form = Form("past" if main == SEE else "present")
            action = Action(
                main,
                (particle(who.ko, "을"),),
                (who.en,),
                action.pairs | {(main.ko, head.ko)},
                denies=main == KNOW_NOT,
            )
            return self.tell(someone, register, action, form, topic=1)
        other = self.choose(NAMES + KIN)
        sex = {"남자": "he", "여자": "she"}.get(head.ko, other.pronoun)
        what = other
        older = {"아이": "삼촌 이모 누나 형", "학생": "삼촌 이모"}
        if other.ko in older.get(head.ko, "").split():
            return None
        friend = other in NAMES and self.chance(0.7)
        if friend or other.pronoun != sex:
            ko, en = possessive(other)
            what = Phrase(f"{ko} 친구", f"{en} friend")
        ko = [mark(who, "은"), *copula(what, self.register())]
        return sentence(ko, [who.en, "is", what.en], [action])

    # Templates: two clauses

    def two_people(self):
        "-고 and -지만 with a subject each."
        (who, register), (other, _) = self.someone(), self.someone(own=False)
        # Beside a name, he and she would leave the reader guessing.
        if who.en == other.en or {who.en, other.en} & {"he", "she"}:
            return None
        one = self.act(self.choose(PASTIMES), who, plain=True)
        two = self.act(self.choose(PASTIMES), other, plain=True)
        which = "고"
        if one.pairs and self.chance(0.5):
            # The same verb, but something else of the same kind.
            which, ((_, object_),) = "지만", one.pairs
            noun = self.choose(
                n for n in one.verb.nouns if alike(n, NOUN[object_])
            )
            two = self.act(one.verb, other, noun, plain=True)
        if one.pairs == two.pairs or one.verb.ko == "그리다":
            return None
        if not (suits(one.verb, who) and suits(two.verb, other)):
            return None
        form = Form("past")
        ko = [mark(who, "은"), *one.ko, *link(one, form, who, which)]
        ko += [mark(other, "은"), *two.ko, *close(two, form, other, register)]
        en = clause(who, one, form)
        en[-1] += ","
        en.append("and" if which == "고" else "but")
        return sentence(ko, [*en, *clause(other, two, form)], [one, two])

    def one_after_other(self):
        "One subject: -고, -ㄴ 후에 after, -기 전에 before."
        who, register = self.someone()
        one, two = (self.listed(e, who) for e in self.choose(SEQUENCES))
        if not (suits(one.verb, who) and suits(two.verb, who)):
            return None
        kind = self.choose(["고", "후에", "전에"])
        if kind == "전에" and two.verb.ko not in ("자다", "먹다", "보다"):
            return None
        tense = self.choose(["past", "past", "future"])
        time = self.choose(TIME[tense][:3])
        if kind != "고" and self.chance(0.4):
            tense, time = "present", self.choose(TIME["after"])
        form = Form(tense)
        main, aside = (one, two) if kind == "전에" else (two, one)
        base = plain_stem(aside, who)
        tail = {
            "고": [base + "고"],
            "후에": [base + "은", "후에"],
            "전에": [base + "기", "전에"],
        }[kind]
        ko = [mark(who, "은"), time.ko, *aside.ko, *tail, *main.ko]
        ko += close(main, form, who, register)
        if kind == "고":
            en = [*clause(who, one, form), "and"]
            en += clause(who, two, form, time)[1 + (tense == "future") :]
        else:
            word = "after" if kind == "후에" else "before"
            doing = inflect(aside.verb.en, "ing")
            main = replace(main, en=(*main.en, word, doing, *aside.en))
            en = clause(who, main, form, time)
        return sentence(ko, en, [one, two])

    def side_by_side(self):
        "-면서 while."
        who, register = self.someone()
        aside, main = (self.listed(e, who) for e in self.choose(TOGETHER))
        tense = self.choose(["after", "past", "now"])
        time = self.choose(TIME[tense][:3])
        form = Form("past" if tense == "past" else "present")
        if tense == "now":
            form = replace(form, aspect="progressive")
        base = plain_stem(aside, who)
        ko = (*aside.ko, base + "으면서", *main.ko)
        doing = inflect(aside.verb.en, "ing")
        en = (*main.en, "while", doing, *aside.en)
        action = Action(main.verb, ko, en, main.pairs | aside.pairs)
        return suits(aside.verb, who) and self.tell(
            who, register, action, form, time, topic=1
        )

    def reason(self):
        "-아서 because, -면 if, -ㄹ 때 when: a mood or the weather leads on."
        who, register = self.someone()
        if who.pronoun == "teacher":
            return None
        kind = self.choose(["아서", "아서", "으면", "을"])
        by_sky = self.chance(0.35)
        if by_sky:
            (cause_of, verb), result = self.choose(SKY)
            cause, subject = Action(verb), [mark(cause_of, "이")]
        else:
            cause, result = self.choose(MOODS)
            cause_of, subject = who, []
        hindered = result.startswith("못 ")
        # Money is a condition, its lack a reason.
        if cause.verb.en.startswith("have"):
            if cause.denies != (kind == "아서"):
                return None
        elif hindered and kind != "아서":
            return None
        action = self.listed(result, who)
        bought = kind == "을" and action.verb.ko == "사다"
        if bought or not suits(action.verb, who):
            return None
        how = self.no(action.verb, unable=True) if hindered else ""
        tense = {"아서": "past", "으면": "future", "을": "present"}[kind]
        form = Form(tense, "", how)
        cause_form = Form("past" if kind == "아서" else "present")
        time = None
        if kind != "을" and self.chance(0.6):
            time = self.choose(TIME[tense][:3])
        when = [time.ko] if time else []
        cause_ko = [*subject, *cause.ko]
        cause_ko += link(cause, cause_form, cause_of, kind)
        cause_ko += ["때"] * (kind == "을")
        if by_sky:
            ko = [*when, *cause_ko, mark(who, "은")]
        else:
            ko = [mark(who, "은"), *when, *cause_ko]
            cause_of = stay(who)
        ko += [*action.ko, *close(action, form, who, register)]
        word = {"아서": "because", "으면": "if", "을": "when"}[kind]
        en = [*clause(who, action, form), word]
        en += clause(cause_of, cause, cause_form, time)
        return sentence(ko, en, [action])


# How often each template speaks.
TEMPLATES = {
    Speaker.event: 18,
    Speaker.habit: 7,
    Speaker.progress: 7,
    Speaker.denial: 8,
    Speaker.ability: 6,
    Speaker.wish: 6,
    Speaker.question: 7,
    Speaker.who_did: 2,
    Speaker.what_where_when: 9,
    Speaker.errand: 5,
    Speaker.there_is: 4,
    Speaker.having: 4,
    Speaker.being_at: 3,
    Speaker.quality: 9,
    Speaker.feeling: 3,
    Speaker.weather: 2,
    Speaker.contrast: 2,
    Speaker.liking: 4,
    Speaker.job: 2,
    Speaker.request: 4,
    Speaker.thing_made: 6,
    Speaker.thing_is: 3,
    Speaker.person_doing: 5,
    Speaker.two_people: 5,
    Speaker.one_after_other: 5,
    Speaker.side_by_side: 4,
    Speaker.reason: 9,
}


# --- Sets -----------------------------------------------------------------


@cache
def words(sentence):
    "The word forms of both sides, without the marks after them."
    return tuple(
        (language, word.rstrip(".,?"))
        for language in ("ko", "en")
        for word in getattr(sentence, language).split()
    )


def count(sentences):
    return Counter(chain.from_iterable(map(words, sentences)))


def known(sentence, counts, least):
    return all(counts[word] >= least for word in words(sentence))


def spoken(draws):
    "Different sentences of 3 to 15 words, in the order they were said."
    speaker, found = Speaker(SEED), {}
    templates = speaker.random.choices(
        list(TEMPLATES), TEMPLATES.values(), k=draws
    )
    for template in templates:
        said = template(speaker)
        if said and all(
            3 <= len(text.split()) <= 15 for text in (said.ko, said.en)
        ):
            before = found.setdefault(said.ko, said)
            if before.en != said.en:
                raise ValueError(f"two translations: {before}, {said}")
    return list(found.values())


def common(sentences, least):
    "Those whose every word occurs so often among them."
    counts = count(sentences)
    while rare := {word for word, n in counts.items() if n < least}:
        sentences = [s for s in sentences if rare.isdisjoint(words(s))]
        counts = count(sentences)
    return sentences


def level(sentences, size, least):
    "So many sentences, first those that bring a word to its least number."
    counts, needed, rest = Counter(), [], []
    for sentence in sentences:
        new = words(sentence)
        if any(counts[word] < least for word in new):
            counts.update(new)
            needed.append(sentence)
        else:
            rest.append(sentence)
    return (needed + rest)[:size]


def held_out(sentences):
    "Pairs of verb and object for `new`: whatever else is made of both stays."
    seen = Counter(pair for s in sentences for pair in s.pairs)
    verbs = Counter(verb for verb, _ in seen)
    objects = Counter(noun for _, noun in seen)
    # What train will say often, whether or not it has the pair.
    first = sentences[: SIZES["train"]]
    said = Counter(word for s in first for word in set(chain(*s.pairs)))
    both = Counter(pair for s in first for pair in s.pairs)

    def learnt(pair):
        return all(said[word] - both[pair] >= LEARNT for word in pair)

    order = sorted(p for p in seen if seen[p] >= EACH and learnt(p))
    chosen = set()
    random.Random(SEED).shuffle(order)
    for verb, noun in order:
        # Most of what a verb takes, and of what befalls a thing, is learnt.
        few = Counter(v for v, _ in chosen)[verb] * 6 + 6 > verbs[verb]
        rare = Counter(n for _, n in chosen)[noun] * 4 + 4 > objects[noun]
        if not few and not rare and len(chosen) < HELD_OUT:
            chosen.add((verb, noun))
    return chosen


@cache
def corpus():
    "The sets: train, valid, test and new, each a list of Sentence."
    sentences = spoken(DRAWS)
    away = held_out(sentences)
    old = common([s for s in sentences if not s.pairs & away], RARE)
    size = SIZES["train"] + SIZES["valid"] + SIZES["test"]
    # Some more, since valid and test leave out what training says too seldom.
    old = level(old, size + 1_000, RARE)
    random.Random(SEED).shuffle(old)
    sets = {"train": old[: SIZES["train"]]}
    counts, rest = count(sets["train"]), old[SIZES["train"] :]
    rest = [s for s in rest if known(s, counts, KNOWN)]
    sets["valid"] = rest[: SIZES["valid"]]
    sets["test"] = rest[SIZES["valid"] :][: SIZES["test"]]
    new = [s for s in sentences if s.pairs and s.pairs <= away]
    new = [s for s in new if known(s, counts, KNOWN)]
    random.Random(SEED).shuffle(new)
    # One sentence of every pair, then another of every pair, and so on.
    turn, met = {}, Counter()
    for s in new:
        met.update(s.pairs)
        turn[s] = max(met[pair] for pair in s.pairs)
    new = sorted(new, key=turn.get)[: SIZES["new"]]
    random.Random(SEED).shuffle(new)
    sets["new"] = new
    for name, size in SIZES.items():
        if len(sets[name]) < size:
            raise ValueError(f"{name} has {len(sets[name])}: draw more")
    return sets


def generate():
    "The sets as pairs of Korean and English."
    return {
        name: [(s.ko, s.en) for s in sentences]
        for name, sentences in corpus().items()
    }


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, lines in generate().items():
        text = "".join(f"{ko}\t{en}\n" for ko, en in lines)
        text = unicodedata.normalize("NFC", text)
        path = FOLDER / f"{name}.tsv"
        # A reader never meets half a file.
        half = path.with_suffix(".tmp")
        half.write_text(text, encoding="utf-8", newline="\n")
        os.replace(half, path)
        print(f"{path.name}: {len(lines):,} pairs")


if __name__ == "__main__":
    main()
